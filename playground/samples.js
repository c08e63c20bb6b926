// Texts that come with the page: to look at, and to train the small tokenizers on.

export const SAMPLES = [
  ["Many languages", "Tokenizers cut text into pieces that a model can count.\nUnübersetzbare Wörter wie „Fernweh“ kosten mehr.\nLe cœur a ses raisons : 3,14 € l’unité.\nВ начале было слово, а потом ещё одно.\nسلام، حال شما چطور است؟ امیدوارم خوب باشید.\nשלום עולם, מה שלומך היום?\nनमस्ते दुनिया, आप कैसे हैं?\n東京の空は今日も青い。我们一起去散步吧。\n안녕하세요, 반갑습니다!\nFamily 👨‍👩‍👧‍👦, flag 🇳🇿, wave 👋🏽, café = café"],
  ["Code", "def fold(values, start=0):\n    \"\"\"Add numbers up, one after another.\"\"\"\n    total = start\n    for value in values:\n        total += value  # 10_000 at a time\n    return total\n\n\nif __name__ == \"__main__\":\n    print(fold(range(1, 101)) == 5050, 0xFF, 6.02e23)\n"],
  ["Numbers", "7 42 365 1024 65536 1000000 3.14159 1,234,567.89\n2024-02-29T23:59:59Z +49 30 901820 192.168.0.1\n12×12=144; 1/3≈0.333333; ½ cup; ２０２４年; ٣٤٥"],
  ["Spaces and signs", "one two  three   four\ttab\t\ttwo\nline end \n\n\nthree of them\r\n    indented\nzero\u200bwidth, joiner क्‍ष, no\u00a0break, BOM \ufeff here, \u202eoverride\u202c."],
  ["Words that share parts", "low lower lowest new newer newest wide wider widest\nhug hugs pug pun bun hugging\nhappy unhappy happiness unhappiness happily"],
  ["Special tokens", "<|endoftext|>Hello<|im_start|>user\nAre these tokens, or text?<|im_end|>\n<s>[INST] or only signs [/INST]</s> <unk> <pad>"],
];

/** Short texts with a surprise: a name for the button, the text, and what to see. */
export const SURPRISES = [
  ["strawberry", "strawberry", "How many times does it have an r? A model sees the tokens, not the letters."],
  ["1234567", "1234567", "A number is cut where the pattern and the merges cut it, not at its thousands."],
  ["می‌خواهم", "می‌خواهم", "One Persian word. The zero-width non-joiner in it has three bytes of its own."],
  ["👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦", "One picture, seven code points, 25 bytes: four people and three zero-width joiners."],
  ["SolidGoldMagikarp", " SolidGoldMagikarp", "With its space, this user name is one token of GPT-2. Hardly any training text had it, so models did not know what to do with it."],
];

/** The first sample is what a reader sees first. */
export const FIRST = SAMPLES[0][1];

const TALE = `The river runs down to the sea, and the people of the town walk along the river in the evening. They talk about the weather, about the harvest, about the children who are learning to read. Nobody counts the words, but everybody uses the same ones again and again: the, and, of, to, in, that, is, was, for, with. A word that is used often is worth a sign of its own. A word that is rare is written with smaller signs, and nothing is ever lost. Tokenizers learn this from text: they count which signs stand beside each other, join the pair that is found most often, and begin again. After a thousand steps there are tokens for the common words, tokens for their beginnings and endings, and tokens for single letters. The newer, the lower, the wider; the newest, the lowest, the widest; walking, talking, reading, learning, counting. Happy and unhappy, likely and unlikely, read and unread, happiness and kindness.
Der Fluss fließt durch die Stadt, und am Abend gehen die Menschen am Fluss entlang. Sie sprechen über das Wetter, über die Ernte und über die Kinder, die lesen lernen. Niemand zählt die Wörter, aber alle verwenden dieselben immer wieder: der, die, das, und, in, nicht, ein, eine, mit, für. Ein Wort, das häufig ist, bekommt ein eigenes Zeichen. Ein seltenes Wort wird mit kleineren Zeichen geschrieben, und nichts geht verloren.
La rivière traverse la ville, et le soir les gens marchent le long de la rivière. Ils parlent du temps, de la récolte et des enfants qui apprennent à lire. Personne ne compte les mots, mais tout le monde utilise les mêmes : le, la, les, de, des, et, un, une, que, pour, dans. Un mot fréquent mérite un signe à lui. Un mot rare s’écrit avec des signes plus petits, et rien n’est perdu.
El río cruza la ciudad, y por la tarde la gente camina junto al río. Hablan del tiempo, de la cosecha y de los niños que aprenden a leer. Nadie cuenta las palabras, pero todos usan las mismas: el, la, los, de, que, y, en, un, una, por, con, para.
Река течёт через город, и вечером люди гуляют вдоль реки. Они говорят о погоде, об урожае и о детях, которые учатся читать. Никто не считает слова, но все говорят одни и те же: и, в, не, на, что, он, с, как, это, по. Слово, которое встречается часто, получает свой знак.
رود از میان شهر می‌گذرد و مردم عصرها کنار رود راه می‌روند. آن‌ها از هوا، از برداشت و از کودکانی که خواندن می‌آموزند سخن می‌گویند. هیچ کس واژه‌ها را نمی‌شمارد، اما همه همان واژه‌ها را به کار می‌برند: و، در، به، از، که، این، است، را، با.
النهر يجري إلى البحر، وفي المساء يمشي الناس على ضفة النهر. يتحدثون عن الطقس وعن الحصاد وعن الأطفال الذين يتعلمون القراءة. لا أحد يعد الكلمات، لكن الجميع يستعملون الكلمات نفسها: في، من، على، إلى، عن، أن، التي، الذي.
הנהר זורם אל הים, ובערב אנשים הולכים לאורך הנהר. הם מדברים על מזג האוויר, על הקציר ועל הילדים שלומדים לקרוא.
नदी शहर से होकर बहती है, और शाम को लोग नदी के किनारे टहलते हैं। वे मौसम के बारे में, फसल के बारे में और पढ़ना सीखते बच्चों के बारे में बातें करते हैं। शब्द बार बार आते हैं: और, है, के, में, की, से, को, का, यह।
川は町を通って海へ流れます。夕方になると、人々は川のそばを歩きます。天気のことや、収穫のことや、字を覚える子どもたちのことを話します。よく使う言葉には、自分の印があります。
河流穿过城市流向大海。傍晚的时候，人们在河边散步。他们谈天气，谈收成，谈正在学习读书的孩子们。常用的词有自己的记号，少用的词用更小的记号写成。
강은 도시를 지나 바다로 흐릅니다. 저녁이 되면 사람들은 강가를 걷습니다. 날씨와 수확과 글을 배우는 아이들에 대해 이야기합니다.
def count(words):
    total = {}
    for word in words:
        total[word] = total.get(word, 0) + 1
    return total

for (let place = 0; place < words.length; place += 1) {
  const word = words[place];
  if (word in total) { total[word] += 1; } else { total[word] = 1; }
}
{"name": "river", "length": 120, "towns": ["north", "south", "east", "west"], "is_long": true}
`;

/** What the small tokenizers learn from: a tale in several languages, twice, so that its words occur often enough. */
export const TRAINING = TALE + TALE + FIRST;
