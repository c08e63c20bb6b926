"""Chat templates within bounds: what a template may ask for, and what becomes of the rest.

What templates mean is compared with transformers' own rendering, so bounds change no text; every
attack is refused with an error of ours, quickly, by the name of the limit or of what is wrong.
"""

import itertools
import json
import random
import string
from functools import partial

import pytest

import bytepair
from bytepair import FormatError, Tokenizer, TokenizerError

jinja2 = pytest.importorskip("jinja2")

from bytepair.compat import _bounds  # noqa: E402
from bytepair.compat._chat import render  # noqa: E402
from bytepair.compat.transformers import (  # noqa: E402
    AutoTokenizer,
    PreTrainedTokenizerFast,
)

MESSAGES = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]
MEANT = {
    "{% for m in messages %}{{ m.role }}: {{ m['content']|trim }}{% if not loop.last %}, {% endif %}{% endfor %}": "user: hi, assistant: yo",
    "{% set ns = namespace(a='') %}{% for m in messages %}{% set ns.a = ns.a + m.content ~ 3 %}{% endfor %}{{ ns.a }}": "hi3yo3",
    "{{ [1,2]|sum }}{{ range(3)|map('string')|join('-') }}{{ messages|map(attribute='role')|list|join(',') }}": "30-1-2user,assistant",
    "{{ {'a':[1,(2,3)]}|tojson }}{{ {'a':1}|tojson(indent=4) }}": '{"a": [1, [2, 3]]}{\n    "a": 1\n}',
    "{% macro f(x, y=2) %}<{{ x }}{{ y }}{{ caller() if caller }}>{% endmacro %}{{ f(1) }}{% call f(3) %}c{% endcall %}": "<12><32c>",
    "{{ 'a-b'.split('-')[1].upper() }}{{ 'x%s'|format(3) }}{{ '{:03d}'.format(7) }}{{ 'ab'*3 }}{{ 2**10 }}{{ 7 % 4 }}": "Bx3007ababab10243",
    "{{ messages[1:] }}{{ messages[-1].content == 'yo' }}{{ 'a' in ['a','b'] }}{{ none is none }}": "[{'role': 'assistant', 'content': 'yo'}]TrueTrueTrue",
    "{% for i in range(5) if i % 2 %}{{ loop.index0 }}{{ loop.length }}{% else %}none{% endfor %}{% for x in [] %}{% else %}e{% endfor %}": "0212e",
    "{% for k, v in {'a':1,'b':2}|items %}{{ k }}{{ v }}{% endfor %}{% for a in [[1,[2]]] recursive %}{{ loop(a) if a is iterable and a is not string else a }}{% endfor %}": "a1b212",
    "{% set x %}a{{ 1 }}b{% endset %}{{ x|length }}{% filter upper %}abc{% endfilter %}{{ 'a' ~ 1 ~ none }}": "3ABCa1None",
    "{{ 'abc'.replace('b','x') }}{{ 'a,b'|replace(',', ';') }}{{ messages|selectattr('role','equalto','user')|list|length }}{{ 'x'.join(['a','b']) }}": "axca;b1axb",
    "{{ undefined_thing }}|{{ x.y if x is defined else 'n' }}{{ (1,2)[0] }}{{ dict(a=1)['a'] }}": "|n11",
}


@pytest.mark.parametrize("template", MEANT)
def test_templates_mean_what_they_meant(template):
    """Counting changes no text: the same as a plain sandbox writes."""
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    options = {"trim_blocks": True, "lstrip_blocks": True}
    plain = ImmutableSandboxedEnvironment(extensions=[loopcontrols], **options)
    plain.filters["tojson"] = json.dumps
    expected = plain.from_string(template).render(messages=MESSAGES)
    assert render(template, MESSAGES).text == expected == MEANT[template]


LOOPS = [
    "{% for i in range(10**5) %}{% for j in range(10**5) %}{% endfor %}{% endfor %}",
    "{% for i in range(10**5) %}{% for j in range(10**5) if false %}{% endfor %}{% endfor %}",
    "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(60) }}",
]


@pytest.mark.parametrize("template", LOOPS)
@pytest.mark.parametrize("limit", ["MOST_STEPS", "MOST_SECONDS"])
def test_loops_and_macros_without_end_are_refused_by_steps_and_by_time(
    monkeypatch, template, limit
):
    """The limits are made small here, so that the test is quick; the message names them."""
    small = {"MOST_STEPS": 20_000, "MOST_SECONDS": 0.2}[limit]
    if limit == "MOST_STEPS":
        monkeypatch.setattr(_bounds, "MOST_SECONDS", 5)
    monkeypatch.setattr(_bounds, limit, small)
    found = r"limit of (20,000 steps|0\.2 seconds|5 seconds) .*for chat templates"
    with pytest.raises(TokenizerError, match=found):
        render(template, MESSAGES)


ATTACKS = [
    "{% for i in range(10**9) %}x{% endfor %}",
    *("{{ 'x' * 10**9 }}", "{{ 10**9 * 'x' }}", "{{ [1] * 10**9 }}"),
    "{% set x = 10 ** 1000 %}{{ (x**1000)|string|length }}",
    "{% macro f(n) %}{{ f(n+1) }}{% endmacro %}{{ f(0) }}",
    "{% set ns=namespace(x='x') %}{% for i in range(100) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "{% set ns=namespace(x='x') %}{% for i in range(100) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{% set ns=namespace(x=[1]) %}{% for i in range(100) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
    "{% set ns=namespace(x={'a':1}) %}{% for i in range(100) %}{% set ns.x = {'a': ns.x, 'b': ns.x} %}{% endfor %}{{ ns.x == ns.x }}",
    "{% set ns=namespace(x=(1,)) %}{% for i in range(100) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}{{ {ns.x: 1} }}",
    "{% set ns=namespace(x=1) %}{% for i in range(100) %}{% set ns.x = dict(a=ns.x, b=ns.x) %}{% endfor %}{{ ns.x|tojson }}",
    "{% set ns=namespace() %}{% set ns.a = ns %}{{ ns }}{{ [ns]|tojson }}",
    *(f"{{{{ 'x'.{name}(10**9) }}}}" for name in ("center", "ljust", "zfill")),
    *("{{ 'x'|center(10**9) }}", "{{ '\t'.expandtabs(10**9) }}"),
    *("{{ '%1000000000d' % 1 }}", "{{ '%*d' % (10**9, 1) }}"),
    *("{{ '%1000000000d'|format(1) }}", "{{ '{:1000000000}'.format(1) }}"),
    *("{{ '{:{}}'.format(1, 10**9) }}", "{{ '{:1000000000}'.format_map({}) }}"),
    "{{ (1).to_bytes(10**9, 'big') }}",
    "{{ ('x'*10000)|replace('', 'y'*100000) }}",
    "{{ ('x'*10000).replace('', 'y'*100000) }}",
    "{{ ('y'*100000).join(['a']*100000) }}",
    "{{ (['a']*100000)|join('y'*100000) }}",
    "{{ range(100000)|map('string')|join('y'*100000) }}",
    *("{{ [1]|batch(10**9)|list }}", "{{ [1]|slice(10**9)|list }}"),
    *("{{ ('a\n'*100000)|indent(100000) }}", "{{ [1]|tojson(indent=10**9) }}"),
    *("{{ 1.5|round(10**9, 'ceil') }}", "{{ lipsum(n=10**9) }}"),
    "{{ range(100000)|map('center', 100000)|list|length }}",
    "{% for i in range(100000) %}" + "x" * 100_000 + "{% endfor %}",
    "{% set ns=namespace(l=[]) %}{% for i in range(100000) %}{% set ns.l = ns.l + ['x'*1000000 ~ i] %}{% endfor %}",
    "{% set ns=namespace(l=1) %}{% for i in range(10**5) %}{% for j in range(10**5) %}{% set ns.l = ns.l * 3 %}{% endfor %}{% endfor %}",
    *("{{ 1/0 }}", "{{ 1 + 'a' }}", "{{ messages.foo.bar }}", "{% for %}", "{{"),
    *("{{ raise_exception('no') }}", "{% include 'x' %}", "{% extends 'x' %}"),
    *("{{ 'a'|nope }}", "{{ nope() }}", "{{ {[1]: 2} }}", "{{ -'a' }}"),
    "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "{{ " + "[" * 5000 + "]" * 5000 + " }}",
    "{% if 1 %}" * 3000 + "{% endif %}" * 3000,
    "{% for i in [1] %}" * 30 + "{% endfor %}" * 30,
    "x" * 300_000,
    "{{ 'a'.__class__ }}{{ 'a'.__class__.__mro__ }}",
    "{{ [].append(1) }}",
    "{{ 9999999999999999999999|string * 9**9 }}",
    "{{ ('9'*5000)|int }}{{ '9'*5000 + 1 }}",
    *("{{ range(10, 1, 0) }}", "{{ strftime_now(1) }}", "{{ messages|sort }}"),
    "{{ {}.fromkeys(range(100000), 'x' * 100000)|string|length }}",
    *("{{ 'é'.encode('ascii') }}", "{{ 'a'.encode().decode('utf-16') }}"),
    "{{ [[1]]*100000|sum(start=[]) }}",
    "{{ ([[1]]*100000)|sum(start=[])|length }}",
    "{{ loop }}{% for a in [[1]] recursive %}{{ loop([[1]]) }}{% endfor %}",
    "{% block a %}{{ self.a() }}{% endblock %}",
    "{{ 'a'.translate({97: 'x' * 1000000}) }}{{ ('a'*100000).translate({97: 'x'*1000000}) }}",
]


@pytest.mark.parametrize("number", range(len(ATTACKS)))
def test_what_a_template_must_not_do_is_an_error_of_ours(number):
    """Whatever Python or Jinja raise, it is a ``TokenizerError`` that says so."""
    with pytest.raises(TokenizerError, match=r"^chat template") as caught:
        render(ATTACKS[number], MESSAGES)
    assert len(str(caught.value)) < 500


LIMITED = {
    "{{ 'x' * 10**9 }}": "67,108,864 characters in one value",
    "{% for i in range(10**9) %}{% endfor %}": "10,000,000 steps",
    "{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(0) }}": "100 calls within calls",
    "{{ (2 ** 60000) * (2 ** 60000) }}": "65,536 bits of a number",
    "x" * 300_000: "262,144 characters",
    "{{ 'x'|center(1000000) }}": "100,000 as a number for the filter center",
    "{{ ('x ' * 1000000)|wordwrap }}": "1,048,576 characters for the filter wordwrap",
}


@pytest.mark.parametrize("template", LIMITED, ids=range(len(LIMITED)))
def test_errors_name_the_limit(template):
    """Its size, and what it is of."""
    expected = f"limit of {LIMITED[template]} for chat templates"
    with pytest.raises(TokenizerError, match=expected):
        render(template, MESSAGES)


def test_long_chats_are_far_from_every_limit():
    """Ten thousand messages of a kilobyte, with tools, through a template that collects them."""
    template = (
        "{% set ns = namespace(seen=[], n=0) %}{% for m in messages %}"
        "{% if m.role == 'user' %}{% set ns.n = ns.n + 1 %}{% endif %}"
        "{{ '<|' ~ m.role ~ '|>' }}{{ m.content | trim }}{{ tools | tojson(indent=2) if loop.first }}"
        "{% endfor %}{{ ns.n }}"
    )
    chat = [{"role": "user", "content": "word " * 200}] * 10_000
    parameters = {"a": {"type": "string"}}
    tools = [{"name": f"f{n}", "parameters": parameters} for n in range(100)]
    text = render(template, chat, {"tools": tools}).text
    assert text.endswith("10000")
    assert text.count("<|user|>") == 10_000


# Files


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Save a tokenizer with a chat template."""
    path = tmp_path_factory.mktemp("chat")
    options = {"vocab_size": 260, "special_tokens": ["<s>"]}
    bytepair.train_from_iterator(["low lower"], **options).save_pretrained(path)
    return path


def copied(folder, target):
    """Copy the files of a folder without templates, and give the settings among them."""
    for path in folder.iterdir():
        if path.is_file() and path.suffix != ".jinja":
            (target / path.name).write_bytes(path.read_bytes())
    return json.loads((target / "tokenizer_config.json").read_bytes())


TEMPLATE = (
    "{%- set ns = namespace(x='') -%}{%- for m in messages -%}{{- '<s>' + m['role'] -}}"
    "{%- if m.content is string -%}{{ m.content | trim }}{%- else -%}{{ m.content | tojson }}"
    "{%- endif -%}{%- endfor -%}{%- if add_generation_prompt -%}{{ '<s>assistant' }}{%- endif -%}"
)


def damaged(template, chance):
    """Damage a template: cut, parts moved or doubled, letters and words exchanged."""
    start, stop = sorted(chance.sample(range(len(template)), 2))
    letter = chance.choice(string.printable + "\ud800\0é\u2028")
    words = ["messages", "loop", "self", "10**9", "range(10**6)", "x*99", "[]", "{}"]
    words += ["none", "ns", "caller()", "|list", "|join", "|tojson", "namespace()"]
    words += ["'a'*9**9", "m['x']['y']"]
    ways = [
        template[:stop],
        template[:start] + template[stop:],
        template[:stop] + template[start:],
        template[:start] + letter + template[start + 1 :],
        template[:start] + chance.choice(words) + template[stop:],
    ]
    return chance.choice(ways)


def test_damaged_templates_are_refused_or_rendered(folder):
    """Two thousand of them: an error of ours, or a text."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    chance = random.Random(4)
    n_rendered = 0
    for _ in range(2000):
        tokenizer.chat_template = damaged(TEMPLATE, chance)
        try:
            text = tokenizer.apply_chat_template(MESSAGES, tokenize=False)
        except TokenizerError:
            continue
        assert isinstance(text, str)
        n_rendered += 1
    assert 100 < n_rendered < 1900


WRONG = [1, True, 1.5, [], [1], [[]], {"a": 1}, {"default": None}, [{"name": "a"}]]
WRONG += [[{"name": [], "template": "x"}], [{"name": "a", "template": 1}]]
WRONG.append({"a": {"b": "c"}})


@pytest.mark.parametrize("value", WRONG)
def test_settings_that_are_no_templates_are_refused_with_their_file(
    folder, tmp_path, value
):
    """A list of names and texts, a text, or a mapping: nothing else is a chat template."""
    settings = {**copied(folder, tmp_path), "chat_template": value}
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps(settings))
    if value == []:
        assert AutoTokenizer.from_pretrained(tmp_path).chat_template in ({}, None)
        return
    with pytest.raises(FormatError, match=rf"{path}: chat_template must be"):
        AutoTokenizer.from_pretrained(tmp_path)


BROKEN = "{{ 1 }}\n{{ 1 / 0 }}"
FILES_OF_TEMPLATES = [
    ("chat_template.jinja", BROKEN),
    ("additional_chat_templates/default.jinja", BROKEN),
    ("tokenizer_config.json", BROKEN),
    ("tokenizer_config.json", {"default": BROKEN, "other": "x"}),
    ("tokenizer_config.json", [{"name": "default", "template": BROKEN}]),
]


@pytest.mark.parametrize(("file", "template"), FILES_OF_TEMPLATES)
def test_errors_of_a_models_own_template_name_its_file(
    folder, tmp_path, file, template
):
    """And the line of the template; what was set later stands in no file."""
    settings, path = copied(folder, tmp_path), tmp_path / file
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".json":
        template = json.dumps({**settings, "chat_template": template})
    path.write_text(template)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    expected = f"^{path}: chat template, line 2: ZeroDivisionError"
    with pytest.raises(TokenizerError, match=expected):
        tokenizer.apply_chat_template(MESSAGES)
    tokenizer.chat_template = "{{ 2 / 0 }}"
    with pytest.raises(TokenizerError, match=f"^{tmp_path}: chat template, line 1"):
        tokenizer.apply_chat_template(MESSAGES)


NOTHING = [5, True, "x", "\ud800", [1], [["a"]], {"a": 1}, {"content": 3}, float("inf")]
SETTINGS = {
    "tokenizer_config.json": [
        *("padding_side", "truncation_side", "added_tokens", "bos_token"),
        *("image_token", "extra_special_tokens", "additional_special_tokens"),
        *(
            "model_max_length",
            "max_len",
            "model_input_names",
            "chat_template",
            "added_tokens_decoder",
        ),
        *("fast_tokenizer_files", "model_specific_special_tokens", "tokenizer_class"),
    ],
    "special_tokens_map.json": ["pad_token", "extra_special_tokens"],
    "added_tokens.json": ["<new>"],
    "config.json": ["tokenizer_class", "model_type"],
}


LOADERS = (AutoTokenizer.from_pretrained, Tokenizer.from_directory)


def refusal(folder, load):
    """Say why a folder is refused, nothing if it is not."""
    try:
        load(folder)
    except TokenizerError as error:
        return str(error)
    return ""


def test_settings_that_mean_nothing_are_refused_with_their_file(folder, tmp_path):
    """Whatever a file of settings holds, its folder is loaded or the error names the file."""
    errors = []
    for file, names in SETTINGS.items():
        for name, value in itertools.product(names, NOTHING):
            copied(folder, tmp_path)
            plain = {"tokenizer_class": "PreTrainedTokenizerFast"}
            (tmp_path / "tokenizer_config.json").write_text(json.dumps(plain))
            (tmp_path / file).write_text(json.dumps({**plain, name: value}))
            if file == "added_tokens.json":
                (tmp_path / file).write_text(json.dumps({name: value}))
            messages = map(partial(refusal, tmp_path), LOADERS)
            errors += [(file, message) for message in messages if message]
            if file != "tokenizer_config.json":
                (tmp_path / file).unlink()
    assert [error for file, error in errors if file not in error] == []
    assert len(errors) > 80


def test_a_token_with_spaces_is_put_around_texts():
    """A template is a list of parts: no character of a token takes one apart."""
    base = bytepair.train_from_iterator(["low lower"], vocab_size=270)
    for name in ("<begin of text>", "a:0 $A:1", " "):
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=base, bos_token=name, add_bos_token=True
        )
        ids = tokenizer("low")["input_ids"]
        assert ids == [tokenizer.bos_token_id, *base.encode("low")]


def added_as(flag):
    """Give settings with a token of this property."""
    return {"added_tokens_decoder": {"300": {"content": "<new>", **flag}}}


@pytest.mark.parametrize(
    ("kind", "file", "change"),
    [
        ("LlamaTokenizerFast", "config.json", {"model_type": {"x": 1}}),
        ("WhisperTokenizer", "special_tokens_map.json", {"eos_token": "{% for %}"}),
        ("GPT2TokenizerFast", "added_tokens.json", {"<new>": 1 << 70}),
        ("GPT2Tokenizer", "special_tokens_map.json", {"eos_token": {"content": []}}),
        *(
            ("GPT2TokenizerFast", "tokenizer_config.json", added_as(flag))
            for flag in ({"lstrip": 1}, {"content": {"x": 1}}, {"special": []})
        ),
    ],
)
def test_values_of_another_kind_are_refused_for_every_class(
    folder, tmp_path, kind, file, change
):
    """Python's own errors never come out of a folder."""
    copied(folder, tmp_path)
    files = {"tokenizer_config.json": {"tokenizer_class": kind}}
    files[file] = {**files.get(file, {}), **change}
    for name, value in files.items():
        (tmp_path / name).write_text(json.dumps(value))
    messages = [refusal(tmp_path, load) for load in LOADERS]
    assert all(str(tmp_path) in message for message in messages if message)
