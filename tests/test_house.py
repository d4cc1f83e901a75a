"""The house is as it is written down: what the linters cannot see about layout, tables, deletions, texts and pages."""

import ast
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from configparser import ConfigParser
from functools import cache
from pathlib import Path

import polib
import pytest
from django.apps import apps as django_apps
from django.core.management import call_command
from django.db import models
from django.utils.translation.template import templatize

from apps.core.contracts import all_contracts
from apps.core.models import Record
from tests.translations import catalogs, messages

ROOT = Path(__file__).parent.parent
# From the bottom up; rooms of one level know nothing of each other.
LEVELS = (
    {"core"},
    {"accounts"},
    {"ledger"},
    {"confirmations"},
    {"sessions"},
    {"devices"},
    {"calendars", "schedules", "captures", "pages"},
    {"tools"},
    {"web"},
)
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
KINDS = {"rules", "models", "queries", "actions", "serializers", "contracts"}
EDGES = {"api", "consumers", "views", "admin", "management", "templatetags", "urls", "routing", "apps"}
PURE_LIBRARIES = {"zstandard", "icalendar", "dateutil"}
SHARED_VALUES = {"apps.core.errors", "apps.core.values", "apps.core.text"}
BANNED_NAMES = re.compile(r"(?:^|_)(?:services?|handlers?|managers?|helpers?|utils?|use_cases?|misc|common)(?:_|$)")
TOP_FOLDERS = {".ci", "apps", "bench", "clients", "docs", "locale", "project", "static", "templates", "tests"}
TOP_FILES = {
    ".dockerignore",
    ".gitignore",
    ".importlinter",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Dockerfile",
    "LICENSE",
    "Makefile",
    "README.md",
    "compose.yaml",
    "manage.py",
    "pyproject.toml",
    "requirements-dev.txt",
    "requirements.txt",
}
FILE_KINDS = {
    "apps": {".py"},
    "bench": {".py", ".md", ".json", ".ics"},
    "clients": {".py", ".md", ".toml", ".txt"},
    "docs": {".md", ".json", ".png", ".svg"},
    "locale": {".po", ".mo"},
    "project": {".py", ".ics"},
    "static": {".css", ".js", ".svg", ".png", ".ico", ".woff2", ".webmanifest"},
    "templates": {".html", ".txt", ".svg"},
    "tests": {".py", ".ics", ".json", ".jsonl", ".zstd", ".md", ".txt", ".png"},
}
# In pieces, so that this file does not name them either.
HOSTS = re.compile(
    "|".join(
        re.escape(".".join(parts))
        for parts in (
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("npmjs", "org"),
            ("npmjs", "com"),
            ("debian", "org"),
            ("docker", "io"),
            ("golang", "org"),
            ("crates", "io"),
            ("jsdelivr", "net"),
            ("unpkg", "com"),
        )
    )
)


@cache
def files() -> tuple[Path, ...]:
    """List the files of the repository, those that are new too."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    return tuple(sorted(path for name in set(names) if name and (path := ROOT / name).is_file()))


def inside(*folders: str, suffix: str = ".py") -> list[Path]:
    """List the files of some folders, migrations left out."""
    return [
        path
        for path in files()
        if path.suffix == suffix and path.relative_to(ROOT).parts[0] in folders and "migrations" not in path.parts
    ]


def shown(path: Path, line: int = 0) -> str:
    """Name a place as editors do."""
    return f"{path.relative_to(ROOT)}:{line}" if line else str(path.relative_to(ROOT))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def room_and_kind(path: Path) -> tuple[str, str]:
    """Say of a file below apps/ which room it belongs to and which of the house's files it is (part of)."""
    parts = path.relative_to(ROOT / "apps").with_suffix("").parts
    return (parts[0], parts[1]) if len(parts) > 1 else ("", parts[0])


def of_kind(*kinds: str) -> list[Path]:
    """List the files of the rooms (core is none) that are of one of the kinds."""
    found = ((path, *room_and_kind(path)) for path in inside("apps"))
    return [path for path, room, kind in found if room not in {"", "core"} and kind in kinds]


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Give each imported module, and each imported name as if it were one."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Give each call with the dotted name of what is called; `?` stands for anything but names."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            yield dotted(node.func), node


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return f"{dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else "?"


def none(found: Iterable[object]) -> None:
    """Fail with a line for each thing found."""
    lines = [str(one) for one in found]
    assert not lines, "\n  ".join(["", *lines])


def our_models() -> list[type[models.Model]]:
    return [model for model in django_apps.get_models() if model.__module__.startswith("apps.")]


def room_of(model: type[models.Model]) -> str:
    return model.__module__.split(".")[1]


def relations() -> list[models.ForeignKey]:
    """List the foreign keys of our tables, those of the tables between two tables left out."""
    return [
        field for model in our_models() for field in model._meta.get_fields() if isinstance(field, models.ForeignKey)
    ]


def many_to_many() -> list[models.ManyToManyField]:
    return [field for model in our_models() for field in model._meta.many_to_many]


class TestLayout:
    def test_only_the_folders_and_files_of_the_house_lie_at_the_top(self):
        tops = {path.relative_to(ROOT).parts for path in files()}
        none({parts[0] for parts in tops if len(parts) > 1} - TOP_FOLDERS)
        none({parts[0] for parts in tops if len(parts) == 1} - TOP_FILES)

    def test_each_folder_holds_only_its_kinds_of_files(self):
        strays = [
            shown(path)
            for path in files()
            if (kinds := FILE_KINDS.get(path.relative_to(ROOT).parts[0])) and path.suffix not in kinds
        ]
        none(strays)

    def test_each_room_holds_only_the_files_of_the_house(self):
        found = ((path, *room_and_kind(path)) for path in files() if path.is_relative_to(ROOT / "apps"))
        allowed = KINDS | EDGES | {"migrations", "__init__"}
        strays = [shown(path) for path, room, kind in found if room not in {"", "core"} and kind not in allowed]
        none(strays)

    def test_each_room_is_known_and_its_files_are_under_the_import_contract(self):
        rooms = {room for path in inside("apps") if (room := room_and_kind(path)[0])}
        linter = ConfigParser()
        linter.read(ROOT / ".importlinter")
        none(rooms - LEVEL.keys())
        checked = set(linter["importlinter:contract:files"]["containers"].split())
        assert checked == {f"apps.{room}" for room in rooms - {"core"}}

    def test_no_module_is_called_a_helper_or_the_like(self):
        names = [shown(path) for path in inside("apps", "project", "tests", "bench", "clients")]
        none(name for name in names if any(map(BANNED_NAMES.search, Path(name).with_suffix("").parts)))

    def test_files_stay_small(self):
        lengths = {path: len(path.read_text().splitlines()) for path in inside("apps")}
        code = sorted(length for length in lengths.values() if length)
        none((shown(path), length) for path, length in lengths.items() if length > 400)
        assert statistics.median(code) <= 80
        assert code[int(len(code) * 0.95)] <= 300
        tests = {shown(path): len(path.read_text().splitlines()) for path in inside("tests")}
        none((name, length) for name, length in tests.items() if length > 600)

    def test_functions_stay_short(self):
        lengths = [
            node.end_lineno - node.lineno + 1
            for path in inside("apps", "project")
            for node in ast.walk(tree(path))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        assert sum(length > 40 for length in lengths) <= len(lengths) * 0.05

    def test_no_file_names_a_package_registry(self):
        texts = ((path, path.read_bytes()) for path in files() if path.suffix not in {".png", ".mo", ".zstd", ".woff2"})
        none(shown(path) for path, text in texts if HOSTS.search(text.decode(errors="replace")))


class TestStyle:
    def test_rules_import_only_plain_python(self):
        def allowed(name: str, path: Path) -> bool:
            own = f"apps.{room_and_kind(path)[0]}.rules"
            return name.split(".")[0] in sys.stdlib_module_names | PURE_LIBRARIES or any(
                name == module or name.startswith(f"{module}.") for module in {own, *SHARED_VALUES}
            )

        strays = [
            (shown(path, line), name)
            for path in of_kind("rules")
            for name, line in imports(path)
            if not allowed(name, path)
        ]
        none(strays)

    def test_only_edges_read_the_clock(self):
        clocks = re.compile(
            r"(?:^|\.)(?:now_ms|clock\(\)\.now_ms|timezone\.(?:now|localdate|localtime)"
            r"|datetime\.(?:now|utcnow|today)|date\.today|time\.(?:time|time_ns|monotonic))$"
        )
        strays = [
            (shown(path, call.lineno), name)
            for path in of_kind("rules", "models", "queries", "serializers", "actions", "contracts")
            for name, call in calls(path)
            if clocks.search(name)
        ]
        none(strays)

    def test_functions_below_the_edges_take_keywords_only(self):
        """What a function is about, a row or a value, may come first without a name."""
        none(
            (shown(path, node.lineno), node.name)
            for path in of_kind("rules", "queries", "actions")
            for node in tree(path).body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and not node.name.startswith("_")
            and len(node.args.posonlyargs) + len(node.args.args) > 1
        )

    def test_signals_carry_nothing_of_ours(self):
        signals = re.compile(r"^django\.(?:dispatch|db\.models\.signals|core\.signals)\b")
        strays = [
            (shown(path, line), name) for path in inside("apps") for name, line in imports(path) if signals.match(name)
        ]
        # The server itself ends a request the way Django does.
        none(stray for stray in strays if not stray[0].startswith("apps/core/"))

    def test_no_test_sleeps(self):
        strays = [
            shown(path, call.lineno)
            for path in inside("tests")
            for name, call in calls(path)
            if name in {"time.sleep", "sleep"} or name.endswith(".wait_for_timeout")
        ]
        none(strays)

    def test_test_folders_are_packages(self):
        """Else two files of one name in two folders collide."""
        folders = {path.parent for path in inside("tests") if path.name.startswith("test_")}
        none(shown(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists())


class TestTables:
    def test_labels_are_the_names_of_the_rooms(self):
        labels = {room_of(model): model._meta.app_label for model in our_models()}
        assert labels == {room: "agent_sessions" if room == "sessions" else room for room in labels}

    def test_core_has_no_tables(self):
        none(model.__name__ for model in our_models() if room_of(model) == "core")

    def test_foreign_keys_point_downwards(self):
        upwards = [
            str(field)
            for field in [*relations(), *many_to_many()]
            if (target := field.related_model).__module__.startswith("apps.")
            and room_of(target) != room_of(field.model)
            and LEVEL[room_of(target)] >= LEVEL[room_of(field.model)]
        ]
        none(upwards)

    def test_only_accounts_points_at_tables_of_others(self):
        strays = {
            str(field)
            for field in [*relations(), *many_to_many()]
            if not field.related_model.__module__.startswith("apps.") and room_of(field.model) != "accounts"
        }
        none(strays)

    def test_governed_rows_go_only_when_they_are_named(self):
        """No governed row disappears because another one did."""
        loose = [
            str(field)
            for field in relations()
            if (issubclass(field.model, Record) or issubclass(field.related_model, Record))
            and field.remote_field.on_delete is not models.PROTECT
        ]
        none(loose)

    @pytest.mark.django_db
    def test_no_migration_is_missing(self):
        rooms = {room_of(model) for model in our_models()}
        none(room for room in rooms if not (ROOT / "apps" / room / "migrations" / "0001_initial.py").exists())
        call_command("makemigrations", check=True, dry_run=True, verbosity=0)


class TestContracts:
    def test_each_contract_can_be_previewed_digested_and_shown(self):
        assert all_contracts() != ()
        for contract in all_contracts():
            room, _, verb = contract.name.partition(".")
            assert room in LEVEL, contract.name
            assert verb.isidentifier(), contract.name
            assert all(map(callable, (contract.preview, contract.digest, contract.act, contract.words))), contract.name
            assert isinstance(contract.example, Mapping), contract.name
            assert json.loads(json.dumps(dict(contract.example))) == contract.example != {}, contract.name
            assert contract.scope, contract.name

    def test_the_work_of_each_contract_lies_in_the_actions_of_its_room(self):
        places = {contract.name: contract.act.__module__ for contract in all_contracts()}
        strays = {
            name: place
            for name, place in places.items()
            if not f"{place}.".startswith(f"apps.{name.partition('.')[0]}.actions.")
        }
        none(strays)

    def test_nothing_outside_the_actions_deletes(self):
        statements = re.compile(r"\b(?:DELETE\s+FROM|TRUNCATE|DROP\s+TABLE)\b", re.IGNORECASE)
        strays = []
        for path in inside("apps", "project"):
            if path.is_relative_to(ROOT / "apps") and room_and_kind(path)[1] == "actions":
                continue
            strays += [
                (shown(path, call.lineno), name)
                for name, call in calls(path)
                if name.endswith((".delete", ".adelete", "._raw_delete")) and not name.endswith("cache.delete")
            ]
            strays += [
                (shown(path, node.lineno), node.value)
                for node in ast.walk(tree(path))
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and statements.search(node.value)
            ]
        none(strays)


GETTEXT = re.compile(
    r"""\b(?P<name>n?p?gettext(?:_lazy)?|_)\(\s*(?P<strings>u?(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")"""
    r"""(?:\s*,\s*u?(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"))*)"""
)


def asked(text: str) -> Iterator[str]:
    """Give each message that a text asks to be translated."""
    for match in GETTEXT.finditer(text):
        strings = ast.literal_eval(f"({match['strings']},)")
        yield strings[1] if "p" in match["name"].replace("gettext", "") else strings[0]


def asked_in_python(path: Path) -> Iterator[str]:
    """Give each message that a module asks to be translated; anything but a literal comes as what it is written as."""
    for name, call in calls(path):
        function = name.rpartition(".")[2].removesuffix("_lazy")
        if function in {"_", "gettext", "ngettext", "pgettext", "npgettext"} and call.args:
            message = call.args["p" in function.replace("gettext", "")]
            yield message.value if isinstance(message, ast.Constant) else ast.unparse(message)


class TestTranslations:
    def test_chinese_is_complete(self):
        texts = [path for path in catalogs() if path.parts[-3] == "zh_Hans"]
        assert texts != []
        for path in texts:
            catalog = polib.pofile(str(path))
            none(entry.msgid for entry in catalog if not entry.obsolete and not entry.translated())
            none(entry.msgid for entry in catalog.fuzzy_entries())

    def test_each_message_is_in_the_catalog(self):
        known = {entry.msgid for path in catalogs() if "zh_Hans" in path.parts for entry in polib.pofile(str(path))}
        asking = [(path, text) for path in inside("apps", "project") for text in asked_in_python(path)]
        asking += [(path, text) for path in inside("static", suffix=".js") for text in asked(path.read_text())]
        pages = inside("templates", suffix=".html")
        asking += [(path, text) for path in pages for text in asked(templatize(path.read_text()))]
        none(sorted({(shown(path), text) for path, text in asking if text not in known}))

    def test_compiled_files_match_their_sources(self):
        """`make messages` writes them."""
        for path in catalogs():
            assert messages(polib.mofile(str(path.with_suffix(".mo")))) == messages(polib.pofile(str(path)))


class TestPages:
    """What the Content-Security-Policy refuses, or would not catch, is not written in the first place."""

    @pytest.mark.parametrize(
        "pattern",
        [
            pytest.param(r"<[^>]*\son[a-z]+\s*=", id="an event handler inside a tag"),
            pytest.param(r"<[^>]*\sstyle\s*=", id="a style attribute"),
            pytest.param(r"<(?:style|script)(?![^>]*\bnonce=)", id="a script or style without the nonce"),
            pytest.param(r"javascript:", id="a script as a link"),
            pytest.param(r"\|\s*safe\b|\bautoescape\s+off\b|\bsafeseq\b", id="text shown as markup"),
            pytest.param(r"<(?:script|link|img|iframe)[^>]*\b(?:src|href)=.https?:", id="something from another host"),
        ],
    )
    def test_no_template_has(self, pattern):
        found = [
            shown(path, text.count("\n", 0, match.start()) + 1)
            for path in inside("templates", suffix=".html")
            for text in [path.read_text()]
            for match in re.finditer(pattern, text)
        ]
        none(found)

    def test_no_script_makes_markup_or_code_of_text(self):
        pattern = r"\.(?:innerHTML|outerHTML|srcdoc)\s*\+?=|insertAdjacentHTML|document\.write|\beval\(|new Function\b"
        found = [shown(path) for path in inside("static", suffix=".js") if re.search(pattern, path.read_text())]
        none(found)

    def test_no_code_trusts_text_as_markup(self):
        trusted = {"mark_safe", "SafeString", "SafeText"}
        found = [
            shown(path, call.lineno)
            for path in inside("apps", "project")
            for name, call in calls(path)
            if name.rpartition(".")[2] in trusted
        ]
        none(found)
