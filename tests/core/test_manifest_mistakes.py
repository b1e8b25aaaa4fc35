"""Each kind of mistake: what is said, where, and what is offered instead."""

import pytest

from regraft.core.manifest_reader import read_manifest
from regraft.errors import InputError, MistakesError

GOOD = """\
[project]
name = "x"
install = [["make", "install"]]
distributions = ["x"]
[dependencies.one]
url = "https://example.org/o/one"
branch = "main"
lock = { file = "lock.json", key = "/one" }
[dependencies.two]
url = "../two"
[images.gpu]
repository = "registry.example:5000/o/gpu"
tag = "v1"
tag-directive = "ci-tag"
dockerfile = "Dockerfile"
unnamed = ["lock", "keep"]
python = "/usr/bin/python3"
python-path = ["/opt/two", "lib"]
requirements = "stop"
env = { MAX_JOBS = "4" }
[images.gpu.baked.one]
path = "/opt/one"
install = [["python", "setup.py", "develop"]]
distributions = ["one"]
imports = ["one.core"]
locate = ["one.kernels"]
not-installed = ["docs/**"]
rebuild-when = ["src/*.cu"]
local-edits = "carry"
patches = ["patches/a.patch", "patches/b.patch"]
[images.gpu.baked.two]
path = "/opt/two"
[suites.all]
image = "gpu"
"""


def mistakes(text: str) -> list[InputError]:
    with pytest.raises(InputError) as caught:
        read_manifest(text.encode())
    error = caught.value
    return list(error.mistakes) if isinstance(error, MistakesError) else [error]


def mistake(text: str) -> InputError:
    found = mistakes(text)
    assert len(found) == 1, "\n".join(map(str, found))
    return found[0]


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1, old
    return GOOD.replace(old, new)


def place_of(text: str, piece: str, within: str | None = None) -> str:
    """The place at which `piece` begins, in the first `within` of the text."""
    at = text.index(within or piece)
    at = text.index(piece, at)
    return f"regraft.toml:{text.count(chr(10), 0, at) + 1}:{at - text.rfind(chr(10), 0, at)}"


def test_the_manifest_that_these_cases_change_is_right() -> None:
    assert read_manifest(GOOD.encode()).dependencies["one"].branch == "main"


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("branch =", "brnch =", "write `branch`"),
        ("[project]\n", "[projekt]\n", "write `project`"),
        ("tag-directive", "tag_directive", "write `tag-directive`"),
        ("tag-directive", '"Tag Directive"', "write `tag-directive`"),
        ("local-edits", "localedits", "write `local-edits`"),
        ("imports =", "import =", "write `imports`"),
        ("key = ", "keys = ", "write `key`"),
        ("[suites.all]\nimage", "[suites.all]\nimgae", "write `image`"),
        (
            'branch = "main"',
            'branch = "main"\ncommit = "x"',
            "the keys here are url, package, files, branch, directive, allow, token-env, lock",
        ),
        ('branch = "main"', 'branch = "main"\nbranches = "x"', "write `branch`"),
        ('branch = "main"', 'branch = "main"\npatches = []', "it belongs in [images.IMAGE.baked.DEPENDENCY]"),
        ('name = "x"', 'name = "x"\ntag = "v1"', "it belongs in [images.IMAGE]"),
        ('tag = "v1"', 'tag = "v1"\ninstall = []', "it belongs in [project] or [images.IMAGE.baked.DEPENDENCY]"),
    ],
)
def test_an_unknown_key_is_one_mistake_with_an_offer(old: str, new: str, hint: str) -> None:
    found = mistake(changed(old, new))
    assert (found.code, found.hint) == ("unknown-key", hint)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (changed("branch =", "brnch ="), "regraft.toml:7:1"),
        (changed("[images.gpu.baked.one]", "[images.gpu.bakd.one]"), "regraft.toml:21:13"),
        (changed('lock = { file = "lock.json", key', 'lock = { "é" = 1, file = "lock.json", key'), "regraft.toml:8:10"),
        (changed('lock = { file = "lock.json", key = "/one" }', 'lock.file = "l"\nlock . kye = "/one"'), "regraft.toml:9:8"),
        (f"extra = 1\n{GOOD}", "regraft.toml:1:1"),
        (f"{GOOD}[extras]\na = 1\n", "regraft.toml:35:2"),
    ],
)  # fmt: skip
def test_an_unknown_key_has_its_place(text: str, where: str) -> None:
    found = mistake(text)
    assert (found.code, found.where) == ("unknown-key", where)


def test_what_is_below_a_misspelt_key_is_judged_too() -> None:
    found = mistakes(
        changed("[dependencies.two]\nurl", "[dependencies.two]\nul").replace('url = "https', 'ulr = "-https')
    )
    assert [(one.code, one.where) for one in found] == [
        ("unknown-key", "regraft.toml:6:1"),
        ("bad-value", "regraft.toml:6:7"),
        ("unknown-key", "regraft.toml:10:1"),
    ]


def test_a_misspelt_table_makes_one_mistake_for_each_header_spelling() -> None:
    found = mistake(GOOD.replace("[dependencies.", "[dependancies."))
    assert (found.code, found.where, found.hint) == ("unknown-key", "regraft.toml:5:2", "write `dependencies`")


@pytest.mark.parametrize(
    ("old", "new", "where", "key"),
    [
        ('[project]\nname = "x"\n', "[project]\n", "regraft.toml:1:1", "name"),
        (
            '[project]\nname = "x"\ninstall = [["make", "install"]]\ndistributions = ["x"]\n',
            "",
            "regraft.toml:1:1",
            "project",
        ),
        ('url = "../two"\n', "", "regraft.toml:9:1", "url"),
        ('[dependencies.two]\nurl = "../two"\n', "[dependencies]\ntwo.branch = 'b'\n", "regraft.toml:10:1", "url"),
        ('[dependencies.two]\nurl = "../two"\n', "[dependencies]\n  two = {}\n", "regraft.toml:10:3", "url"),
        ('file = "lock.json", ', "", "regraft.toml:8:1", "file"),
        ('path = "/opt/two"\n', "", "regraft.toml:31:1", "path"),
        ('image = "gpu"\n', "", "regraft.toml:33:1", "image"),
        ('tag = "v1"\n', "", "regraft.toml:12:1", "tag"),
        ('repository = "registry.example:5000/o/gpu"\n', "", "regraft.toml:12:1", "repository"),
    ],
)
def test_a_missing_key_is_said_at_its_table(old: str, new: str, where: str, key: str) -> None:
    found = mistakes(changed(old, new))
    assert {one.code for one in found} == {"missing-key"}
    assert found[0].where == where
    assert f"`{key}`" in found[0].message


def test_a_tag_directive_needs_a_repository() -> None:
    text = changed('repository = "registry.example:5000/o/gpu"\ntag = "v1"\n', "")
    found = mistake(text)
    assert (found.code, found.where) == ("missing-key", place_of(text, "tag-directive"))


@pytest.mark.parametrize(
    ("old", "new", "piece", "hint"),
    [
        ('name = "x"', "name = 1", "1", 'write "1"'),
        ('tag = "v1"', "tag = 1.5", "1.5", 'write "1.5"'),
        ('{ MAX_JOBS = "4" }', "{ MAX_JOBS = 4 }", "4 }", 'write "4"'),
        ('{ MAX_JOBS = "4" }', "{ MAX_JOBS = true }", "true", 'write "true"'),
        ('tag = "v1"', "tag = 2024-01-02", "2024-01-02", None),
        ('env = { MAX_JOBS = "4" }', 'env = ["A=1"]', '["A=1"]', "write [images.gpu.env] once, not [[images.gpu.env]]"),
        ('imports = ["one.core"]', 'imports = "one.core"', '"one.core"', 'write ["one.core"]'),
        ('imports = ["one.core"]', 'imports = ["one.core", 3]', "3]", 'write "3"'),
        ('unnamed = ["lock", "keep"]', 'unnamed = "keep"', '"keep"', 'write ["keep"]'),
        ('lock = { file = "lock.json", key = "/one" }', 'lock = "lock.json"', '"lock.json"', 'write { file = "lock.json" }, with a `key` where that file is JSON'),
        ("[suites.all]\n", "[[suites.all]]\n", "[[suites.all]]", "write [suites.all] once, not [[suites.all]]"),
        ('[suites.all]\nimage = "gpu"', '[suites]\nall = "gpu"', '"gpu"', "write a table [suites.all] with a `image`"),
        ('[suites.all]\nimage = "gpu"', '[suites]\nimage = "gpu"', '"gpu"', "put `image` into a table with a name, [suites.SUITE]"),
        ('[["make", "install"]]', '"make install"', '"make install"', 'write [["make", "install"]]'),
        ('[["make", "install"]]', '["make", "install"]', '["make", "install"]', 'write [["make", "install"]]'),
        ('[["make", "install"]]', '["make all", "make \'the rest\'"]', '["make all"', 'write [["make", "all"], ["make", "the rest"]]'),
        ('[["make", "install"]]', '[["make"], "make install"]', '"make install"', 'write ["make", "install"]'),
        ('[["make", "install"]]', '"cd x && make"', '"cd x && make"', "write each command as a list of arguments; put what needs a shell into a script, and run that"),
        ('[["make", "install"]]', '"make $X"', '"make $X"', "write each command as a list of arguments; put what needs a shell into a script, and run that"),
        ('[["make", "install"]]', '[["make", 1]]', "1]]", 'write "1"'),
    ],
)  # fmt: skip
def test_a_wrong_type_is_said_with_the_right_form(old: str, new: str, piece: str, hint: str | None) -> None:
    text = changed(old, new)
    found = mistake(text)
    assert (found.code, found.where, found.hint) == ("wrong-type", place_of(text, piece, new), hint)


def test_a_command_is_never_a_line_for_a_shell() -> None:
    assert "never a line for a shell" in mistake(changed('[["make", "install"]]', '"make install"')).message


BAD_VALUES = [
    ('name = "x"', ["", "a b", "a/b", "-a", "a\\u0000", "x\\n", "é", "a" * 65]),
    ('branch = "main"', ["", "-b", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\\\b", "/a", "a/", "a//b", "a.lock", "a/.b", "a.lock/b", ".a", "a.", "@", "HEAD", "a@{1}", "a\\u0007", "a\\n", "refs/heads/main", "refs/pull/1/head"]),
    ('tag = "v1"', ["", "-v", ".v", "a b", "a/b", "a:b", "a" * 129, "é", "v\\n"]),
    ('tag-directive = "ci-tag"', ["", "Ci", "1a", "-a", "a_b", "a b", "a:", "a[b]", "a\\n"]),
    ('repository = "registry.example:5000/o/gpu"', ["", "A/b", "a/b:v1", "a/b@sha256:1", "https://r/a", "docker://r/a", "/a", "a/", "a//b", "-a", "a..b", "a b", "a/-b", "a\\n", "a" * 256]),
    ('dockerfile = "Dockerfile"', ["", ".", "..", "../D", "a/../D", "/D", "a\\\\D", "./D", "a//D", "a/", "a/.", "-D", "~/D", "a\\u0000", "a\\nb", ".git/config", "a/.GIT/x", "a\\u2028"]),
    ('python = "/usr/bin/python3"', ["", "bin/python", "../python", "/", "/usr/../python", "/usr//python", "python 3", "-python", "/usr/bin/python\\n", "~/python"]),
    ('requirements = "stop"', ["", "Stop", "ignore"]),
    ('local-edits = "carry"', ["", "keep"]),
    ('path = "/opt/one"', ["", "/", "//opt", "/opt/", "/opt/../x", "/opt/./x", "../x", ".", "-x", "a\\\\b", "/opt/\\u0001", "/opt/.."]),
    ('key = "/one"', ["one", "/a~", "/a~2", "$.one", "#/one"]),
    ('file = "lock.json"', ["", "/lock", "../lock", "lock\\n"]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "value"), [(old, value) for old, values in BAD_VALUES for value in values])
def test_a_bad_value_is_said_at_its_place(old: str, value: str) -> None:
    new = f'{old.partition(" = ")[0]} = "{value}"'
    text = changed(old, new)
    found = mistake(text)
    assert (found.code, found.where) == ("bad-value", place_of(text, f'"{value}"', new))
    assert found.message.isprintable()


BAD_ITEMS = [
    ('["x"]', ["", "-x", "x-", "a b", "a[extra]", "a==1", "é", "a\\n"]),
    ('["one.core"]', ["", "one-core", "one/core", ".one", "one.", "a..b", "1a", "a b", "é", "one.py:x", "a\\n"]),
    ('["docs/**"]', ["", "/docs", "../docs", "docs/", "docs/**x", "!docs", "a\\\\b", "./a", ".git/x", "a\\n"]),
    ('["/opt/two", "lib"]', ["", "/opt:/x", "../x", "/opt/", ".", "a\\n"]),
    ('["patches/a.patch", "patches/b.patch"]', ["", "/a.patch", "../a.patch", "./a.patch", "a\\\\b.patch", "-a.patch", "a\\u0000.patch", "~/a"]),
    ('["lock", "keep"]', ["", "Keep", "branch", "heads"]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "value"), [(old, value) for old, values in BAD_ITEMS for value in values])
def test_a_bad_item_is_said_at_its_place(old: str, value: str) -> None:
    new = f' = ["{value}"]\n'
    text = changed(f" = {old}\n", new)
    found = mistake(text)
    assert (found.code, found.where) == ("bad-value", place_of(text, f'"{value}"', new))
    assert found.message.isprintable()


@pytest.mark.parametrize(
    "command", ["[]", '[""]', '["-m"]', '["make install"]', '["make", ""]', '["make", "a\\u0000"]']
)
def test_a_command_is_a_program_and_its_arguments(command: str) -> None:
    assert mistake(changed('["python", "setup.py", "develop"]', command)).code == "bad-value"


@pytest.mark.parametrize("command", ['["make"]', '["/opt/tool", "-x", "a b", "$HOME", "é", "*"]'])
def test_arguments_may_hold_anything_since_no_shell_sees_them(command: str) -> None:
    assert read_manifest(changed('["python", "setup.py", "develop"]', command).encode())


@pytest.mark.parametrize(
    ("variable", "says"),
    [
        ("PYTHONPATH", "python-path"),
        ("PYTHONHOME", "take it out"),
        ("PYTHONUSERBASE", "take it out"),
        ("LD_PRELOAD", "take it out"),
        ("PATH", "`python`"),
        ("GIT_DIR", "take it out"),
        ("GIT_CONFIG_GLOBAL", "take it out"),
    ],
)
def test_a_variable_that_would_subvert_the_proof_is_refused(variable: str, says: str) -> None:
    text = changed('{ MAX_JOBS = "4" }', f'{{ {variable} = "4" }}')
    found = mistake(text)
    assert (found.code, found.where) == ("bad-value", place_of(text, f"{variable} = "))
    assert says in str(found.hint)


@pytest.mark.parametrize("variable", ['"A B"', "1A", '"A="', '""', '"é"', '"A\\u0000"', "A-B"])
def test_a_variable_has_a_name_of_the_environment(variable: str) -> None:
    assert mistake(changed("MAX_JOBS", variable)).code == "bad-value"


@pytest.mark.parametrize(
    "variable", ["GITHUB_TOKEN", "PYTHONUNBUFFERED", "LD_LIBRARY_PATH", "_x", "MYPATH", "PYTHONPATHS"]
)
def test_other_variables_are_free(variable: str) -> None:
    assert read_manifest(changed("MAX_JOBS", variable).encode()).images["gpu"].env == ((variable, "4"),)


def test_a_variable_holds_no_nul() -> None:
    assert mistake(changed('"4"', '"4\\u0000"')).code == "bad-value"


@pytest.mark.parametrize("name", ['"../x"', '"a/b"', '"A"', '"-a"', '"a b"', '""', '"é"', '"a\\n"', "a" * 65])
@pytest.mark.parametrize("table", ["dependencies", "images", "suites"])
def test_a_name_is_safe_as_a_file_name_and_an_output(table: str, name: str) -> None:
    header = {
        "dependencies": f"{{ {name}.url = 'u' }}",
        "images": f"{{ {name} = {{}} }}",
        "suites": f"{{ {name}.image = 'gpu' }}",
    }
    rest = "[images.gpu]\n" if table == "suites" else ""
    found = mistake(f"{table} = {header[table]}\nproject.name = 'x'\n{rest}")
    assert (found.code, found.where) == ("bad-value", f"regraft.toml:1:{len(table) + 6}")


@pytest.mark.parametrize("token", ["", "1A", "A B", "$TOKEN", "${{ secrets.TOKEN }}", "A\\n"])
def test_a_token_is_named_by_its_variable(token: str) -> None:
    found = mistake(changed('branch = "main"', f'token-env = "{token}"'))
    assert found.code == "bad-value"


def test_a_token_that_stands_in_the_manifest_is_never_repeated() -> None:
    token = "ghp_" + "a1B2" * 9
    found = mistake(changed('branch = "main"', f'token-env = "{token}"'))
    assert found.code == "credentials-in-manifest"
    assert token not in str(found)


@pytest.mark.parametrize(
    "allowed",
    ["", "a", "a/", "/a", "a/b/c", "-a/b", "a/-b", "a/..", "../a", "a b/c", "https://github.com/a/b", "?/a", "a/\\n"],
)
def test_an_allowed_repository_is_owner_and_name(allowed: str) -> None:
    assert mistake(changed('branch = "main"', f'allow = ["{allowed}"]')).code == "bad-value"


@pytest.mark.parametrize("allowed", ["sgl-project/*", "*/sglang", "*/*", "a.b_c/d.e", "a/*-fork"])
def test_a_star_stands_for_any_characters_of_an_allowed_repository(allowed: str) -> None:
    manifest = read_manifest(changed('branch = "main"', f'branch = "main"\nallow = ["{allowed}"]').encode())
    assert manifest.dependencies["one"].allow == (allowed,)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('["lock", "keep"]', '["lock", "keep", "lock"]'),
        ('["patches/a.patch", "patches/b.patch"]', '["p/a.patch", "p/b.patch", "p/a.patch"]'),
        ('["one"]', '["one", "x", "One"]'),
        ('["one.core"]', '["one.core", "one", "one.core"]'),
    ],
)
def test_what_stands_twice_in_a_list_is_said_at_the_second(old: str, new: str) -> None:
    text = changed(f" = {old}\n", f" = {new}\n")
    found = mistake(text)
    assert found.code == "duplicate"
    path, line, column = place_of(text, new).split(":")
    assert found.where == f"{path}:{line}:{int(column) + new.rindex(chr(34), 0, -2)}"


def test_unnamed_must_say_something() -> None:
    assert mistake(changed('["lock", "keep"]', "[]")).code == "bad-value"


@pytest.mark.parametrize(
    ("branch", "lock", "unnamed", "answered"),
    [
        (True, True, '["lock"]', True),
        (True, False, '["lock"]', False),
        (False, True, '["head"]', False),
        (True, False, '["head"]', True),
        (True, False, '["lock", "head"]', True),
        (False, True, '["head", "lock"]', True),
        (False, False, '["head", "lock"]', False),
        (False, False, '["lock", "keep"]', True),
        (False, False, '["keep"]', True),
    ],
)
def test_unnamed_must_answer_for_each_baked_dependency(branch: bool, lock: bool, unnamed: str, answered: bool) -> None:
    text = "[project]\nname = 'x'\n[dependencies.one]\nurl = 'u'\n"
    text += "branch = 'b'\n" if branch else "\n"
    text += "lock.file = 'l'\n" if lock else "\n"
    text += (
        f"[dependencies.other]\nurl = 'u'\n[images.gpu]\nunnamed = {unnamed}\n[images.gpu.baked.one]\npath = '/one'\n"
    )
    if answered:
        assert read_manifest(text.encode())
    else:
        found = mistake(text)
        assert (found.code, found.where) == ("no-answer", "regraft.toml:10:11")


def test_a_baked_dependency_is_declared() -> None:
    text = changed("[images.gpu.baked.two]", "[images.gpu.baked.tow]")
    found = mistake(text)
    assert (found.code, found.where, found.hint) == ("unknown-dependency", "regraft.toml:31:19", "write `two`")


def test_the_image_of_a_suite_is_declared() -> None:
    text = changed('image = "gpu"', 'image = "cpu"')
    found = mistake(text)
    assert (found.code, found.where, found.hint) == ("unknown-image", "regraft.toml:34:9", "write `gpu`")


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('url = "../two"', 'url = "../two"\ndirective = "ci-one-pr"', "regraft.toml:11:13"),
        ('branch = "main"', 'directive = "ci-two-pr"', "regraft.toml:9:1"),
        ('tag-directive = "ci-tag"', 'tag-directive = "ci-one-pr"', "regraft.toml:14:17"),
        ('branch = "main"', 'directive = "ci-tag"', "regraft.toml:14:17"),
    ],
)
def test_a_directive_means_one_thing(old: str, new: str, where: str) -> None:
    found = mistake(changed(old, new))
    assert (found.code, found.where) == ("duplicate-directive", where)


def test_default_directives_that_meet_are_said() -> None:
    found = mistake("project.name = 'x'\n[dependencies.a-b]\nurl = 'u'\n[dependencies.'a.b']\nurl = 'u'\n")
    assert (found.code, found.where) == ("duplicate-directive", "regraft.toml:4:1")


def test_two_dependencies_of_an_image_share_no_checkout() -> None:
    found = mistake(changed('path = "/opt/two"', 'path = "/opt/one"'))
    assert (found.code, found.where) == ("duplicate", "regraft.toml:32:8")


def test_two_dependencies_of_an_image_share_no_distribution() -> None:
    found = mistake(changed('path = "/opt/two"', 'path = "/opt/two"\ndistributions = ["One"]'))
    assert (found.code, found.where) == ("duplicate", "regraft.toml:33:17")


def test_all_mistakes_are_said_in_the_order_of_the_file() -> None:
    text = changed("branch =", "brnch =").replace('image = "gpu"', 'image = "g"').replace('name = "x"', "name = 3")
    text = text.replace('url = "../two"\n', "").replace('"patches/b.patch"', '"/b"')
    found = mistakes(text)
    lines = [int(str(one.where).split(":")[1]) for one in found]
    assert [one.code for one in found] == ["wrong-type", "unknown-key", "missing-key", "bad-value", "unknown-image"]
    assert lines == sorted(lines)


def test_mistakes_without_end_are_bounded() -> None:
    text = GOOD + "[suites.extra]\n" + "".join(f"k{number} = 1\n" for number in range(5000))
    found = mistakes(text)
    assert [one.code for one in found[-2:]] == ["unknown-key", "too-many-mistakes"]
    assert len(found) == 101


def test_hostile_text_is_escaped_and_bounded_in_messages() -> None:
    text = changed("branch =", '"\\u001b[31m\\u202e' + "x" * 5000 + '" =').replace(
        'name = "x"', 'name = "\\u001b]0;\\u0007"'
    )
    for found in mistakes(text):
        assert found.message.isprintable()
        assert len(found.message) < 400


def test_the_order_is_that_of_the_file_and_not_of_the_rules() -> None:
    text = '[suites.a]\nimage = "g"\n[images.b]\ntag = "a b"\nrepository = "B"\n[project]\nname = 1\n'
    places = [(one.code, one.where) for one in mistakes(text)]
    assert places == [
        ("unknown-image", "regraft.toml:2:9"),
        ("bad-value", "regraft.toml:4:7"),
        ("bad-value", "regraft.toml:5:14"),
        ("wrong-type", "regraft.toml:7:8"),
    ]
