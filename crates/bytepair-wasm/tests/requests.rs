//! Requests as a page sends them, and what is answered.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use bytepair_wasm::answer;
use serde_json::{Value, json};

/// Sends a request with bytes; gives the JSON of the answer and its bytes.
fn send(request: &Value, bytes: &[u8]) -> (Value, Vec<u8>) {
    let json = request.to_string();
    let len = u32::try_from(json.len()).unwrap().to_le_bytes();
    split(&answer(&[&len[..], json.as_bytes(), bytes].concat()))
}

fn split(message: &[u8]) -> (Value, Vec<u8>) {
    let (len, rest) = message.split_first_chunk().unwrap();
    let (json, bytes) = rest.split_at(u32::from_le_bytes(*len) as usize);
    (serde_json::from_slice(json).unwrap(), bytes.to_vec())
}

fn result(request: &Value, bytes: &[u8]) -> Value {
    let (answer, _) = send(request, bytes);
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"].clone()
}

fn error(request: &Value, bytes: &[u8]) -> String {
    send(request, bytes).0["error"].as_str().unwrap().to_owned()
}

/// The steps of a training, from one to another, with what they name.
fn steps(trained: &Value, from: u64, to: u64) -> Value {
    let tokenizer = &trained["tokenizer"];
    result(&json!({"op": "steps", "tokenizer": tokenizer, "from": from, "to": to}), b"")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|&number| u32::from_le_bytes(number)).collect()
}

/// The words of the best-known example, with their counts.
const HUGS: &[u8] = b"hug\t10\npug\t5\npun\t12\nbun\t4\nhugs\t5\n";

fn hugs() -> Value {
    let request = json!({"op": "train", "dialect": "unknown-token", "merges": 3, "counts": true});
    result(&request, HUGS)
}

#[test]
fn the_example_of_hugs_merges_as_it_does_by_hand() {
    let trained = hugs();
    assert_eq!((&trained["n_steps"], &trained["n_bytes"]), (&json!(3), &json!(113)));
    let walk = steps(&trained, 0, 3);
    let text = |id: &Value| walk["known"][id.to_string()]["name"].as_str().unwrap().to_owned();
    let merges: Vec<_> = list(&walk["steps"])
        .iter()
        .map(|step| (text(&step["left"]), text(&step["right"]), step["count"].as_i64().unwrap()))
        .collect();
    let owned = |left: &str, right: &str, count| (left.to_owned(), right.to_owned(), count);
    assert_eq!(merges, [owned("u", "g", 20), owned("u", "n", 16), owned("h", "ug", 15)]);
    // 36 words of three letters, five of which have a fourth; each merge saves as many tokens as the pair occurs.
    assert_eq!(walk["start"]["n_tokens"], 113);
    assert_eq!(walk["steps"][2]["n_tokens"], 113 - 20 - 16 - 15);
    let last: Vec<_> = list(&walk["steps"][2]["pieces"])
        .iter()
        .map(|piece| list(&piece["ids"]).iter().map(text).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(last, ["hug", "p ug", "p un", "b un", "hug s"]);
}

#[test]
fn a_step_names_the_pairs_that_occur_as_often_and_the_rule_that_chose() {
    let train = json!({"op": "train", "dialect": "byte-stream", "merges": 1});
    let trained = result(&train, b"abab");
    let step = steps(&trained, 0, 9)["steps"][0].clone();
    assert_eq!(step["pairs"], json!([[97, 98, 2], [98, 97, 1]]));
    let trained = result(&train, b"babcbc");
    let step = steps(&trained, 0, 1)["steps"][0].clone();
    assert_eq!((&step["left"], &step["rule"]), (&json!(98), &json!("first_seen")));
}

#[test]
fn steps_name_the_tokens_that_they_have_and_no_others() {
    let request = json!({"op": "train", "dialect": "byte-stream"});
    let trained = result(&request, "abcdefgh".repeat(60).as_bytes());
    let last = trained["n_steps"].as_u64().unwrap();
    assert!(last > 8);
    let walk = steps(&trained, last - 1, last);
    let step = &walk["steps"][0];
    let mut shown: Vec<_> = list(&step["pairs"]).iter().collect();
    shown.extend(list(&step["tied"]));
    let mut ids: Vec<_> = shown.iter().flat_map(|pair| [&pair[0], &pair[1]]).collect();
    ids.extend(list(&step["pieces"][0]["ids"]));
    ids.push(&step["token"]);
    let named = walk["known"].as_object().unwrap();
    assert!(ids.iter().all(|id| named.contains_key(&id.to_string())));
    assert!(named.keys().all(|name| ids.iter().any(|id| id.to_string() == *name)));
}

#[test]
fn a_trace_gives_the_rank_of_every_neighbouring_pair() {
    let trained = hugs();
    let request =
        json!({"op": "trace", "tokenizer": trained["tokenizer"], "at": 0, "special": "text"});
    let trace = result(&request, b"hugun");
    for step in list(&trace["steps"]) {
        let ranked = list(&step["others"]).iter().filter(|other| !other[3].is_null());
        let first = ranked.min_by_key(|other| (other[3].as_u64(), other[0].as_u64())).unwrap();
        assert_eq!(
            (&first[0], &first[3], &first[4]),
            (&step["place"], &step["rank"], &step["token"])
        );
    }
    let ranks: Vec<_> = list(&trace["steps"]).iter().map(|step| step["rank"].clone()).collect();
    assert_eq!(ranks, [0, 1, 2]);
    // Before the first merge: h u, u g, g u, u n.
    let others: Vec<_> = list(&trace["steps"][0]["others"]).iter().map(|o| o[3].clone()).collect();
    assert_eq!(others, [json!(null), json!(0), json!(null), json!(1)]);
}

#[test]
fn tokens_of_ids_have_the_bytes_of_the_text() {
    let trained =
        result(&json!({"op": "train", "dialect": "gpt2", "merges": 1}), "中中".as_bytes());
    let number = &trained["tokenizer"];
    let text = "a中".as_bytes();
    let (answer, bytes) =
        send(&json!({"op": "encode", "tokenizer": number, "special": "text"}), text);
    assert_eq!(answer["result"], json!({"n_tokens": 3, "n_groups": 2}));
    let values = numbers(&bytes);
    // Both pairs of the three bytes occur twice. B8 has a smaller id than E4, so it is merged with AD.
    assert_eq!(
        (&values[3..6], &values[6..9], &values[9..]),
        (&[0, 1, 2][..], &[1, 2, 4][..], &[0, 1][..])
    );
    let tokens = result(&json!({"op": "tokens", "tokenizer": number, "ids": values[..3]}), b"");
    let bytes = values[..3].iter().flat_map(|id| list(&tokens["known"][id.to_string()]["bytes"]));
    assert!(bytes.eq(text));
}

#[test]
fn a_saved_tokenizer_opens_with_the_same_ids() {
    let trained = result(
        &json!({"op": "train", "dialect": "gpt4o", "merges": 5}),
        b"low lower lowest low low",
    );
    let encode = |tokenizer: &Value| {
        send(&json!({"op": "encode", "tokenizer": tokenizer, "special": "text"}), b"lower low").1
    };
    for format in ["bytepair", "compiled", "huggingface", "tiktoken"] {
        let (saved, bytes) =
            send(&json!({"op": "save", "tokenizer": trained["tokenizer"], "format": format}), b"");
        let open = json!({"op": "open", "files": saved["result"]["files"], "dialect": null});
        let opened = result(&open, &bytes);
        assert_eq!(opened["info"]["format"], *format);
        assert_eq!(encode(&opened["tokenizer"]), encode(&trained["tokenizer"]));
    }
}

#[test]
fn what_cannot_be_done_is_said_and_nothing_is_lost() {
    let trained = hugs();
    let number = trained["tokenizer"].clone();
    let open = |name: &str, text: &[u8]| {
        error(
            &json!({"op": "open", "files": [{"name": name, "length": text.len()}], "dialect": null}),
            text,
        )
    };
    assert_eq!(open("novel.txt", b"Call me"), "novel.txt: not a known tokenizer format");
    let half = open("merges.txt", "#version: 0.2\nĠ t\n".as_bytes());
    assert_eq!(
        half,
        "merges.txt holds merges without their ids, which are in vocab.json: open both at once"
    );
    assert!(
        open("vocab.json", b"{\"a\": 0}").contains("their merges, which are in merges.txt: open")
    );
    assert!(open("vocab.bpe", b"l o\nlo w</w>\n").contains("need another name"));
    assert!(open("own.tiktoken", b"YQ== 0\n").contains("choose a dialect"));
    let (vocab, merges) = (br#"{"a": 0, "b": 1, "ab": 2}"#, b"a b\n");
    let mut pair = json!({"op": "open", "dialect": null, "files": [
        {"name": "vocab.json", "length": vocab.len()}, {"name": "merges.txt", "length": merges.len()}
    ]});
    let both = [vocab.as_slice(), merges.as_slice()].concat();
    assert!(error(&pair, &both).contains("choose a dialect"));
    pair["dialect"] = "gpt4".into();
    assert_eq!(result(&pair, &both)["info"]["format"], "gpt2");
    let cut = open("cl100k_base.tiktoken", b"IQ== 0\nIg== 1\n");
    assert!(cut.ends_with("it was cut off; fetch it again"), "{cut}");
    assert!(error(&json!({"op": "close", "tokenizer": 99}), b"").contains("no longer open"));
    assert!(error(&json!({"op": "fly"}), b"").contains("not understood"));
    assert!(split(&answer(b"\xFF\xFF\xFF\xFF{}")).0["error"].as_str().unwrap().contains("shorter"));
    let pattern = json!({"op": "train", "dialect": "gpt2", "pattern": "[a-z"});
    assert!(error(&pattern, b"text").contains("a class without its"));
    assert!(
        error(&json!({"op": "train", "dialect": "gpt2", "counts": true}), b"low\tmany")
            .contains("line 1")
    );
    result(&json!({"op": "tokens", "tokenizer": number, "ids": [0]}), b"");
}
