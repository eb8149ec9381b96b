# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""tools/check_style finds each breach of a limit and keeps quiet about good code."""

import importlib.machinery
import importlib.util
import sys
import textwrap
import unittest

import tree

LICENCE = "// SPDX-License-Identifier: BSD-3-Clause\n// Copyright (c) 2026 the Fulmar authors\n"


def load():
    """The tool as a module."""
    loader = importlib.machinery.SourceFileLoader("check_style", str(tree.ROOT / "tools/check_style"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_style", loader))
    sys.modules["check_style"] = module
    loader.exec_module(module)
    return module


class Limits(tree.TreeTest):
    def complaints(self, path, text, exceptions=""):
        self.write(path, text)
        allowed = self.write("exceptions.txt", exceptions)
        run = self.run_tool("check_style", "--root", self.root, "--exceptions", allowed)
        self.assertEqual(run.returncode, 1 if run.stdout else 0, run.stderr)
        return run.stdout

    def test_good_file_passes(self):
        self.assertEqual(self.complaints("src/base/a.h", LICENCE + "#pragma once\n"), "")

    def test_missing_licence(self):
        self.assertIn("licence", self.complaints("src/base/a.cc", "int x;\n"))
        self.assertIn("licence", self.complaints("tools/run", "#!/bin/sh\n"))

    def test_missing_pragma_once(self):
        self.assertIn("#pragma once", self.complaints("src/base/a.h", LICENCE))

    def test_goto_in_code_but_not_in_comments(self):
        self.assertIn("a.cc:3: goto", self.complaints("src/a.cc", LICENCE + "void f() { goto out; }\n"))
        self.assertEqual(self.complaints("src/a.cc", LICENCE + '// goto\nchar x[] = "goto";\n'), "")

    def test_long_file(self):
        self.assertIn("502 lines", self.complaints("src/a.cc", LICENCE + "\n" * 499))

    def test_long_function_and_its_exception(self):
        text = LICENCE + "void f() {\n" + "  g();\n" * 90 + "}\n"
        self.assertIn("f has 92 lines", self.complaints("src/a.cc", text))
        allowed = "src/a.cc:f a table of calls\n"
        self.assertNotIn("f has", self.complaints("src/a.cc", text, allowed))
        self.assertIn("f has", self.complaints("src/a.cc", text, "src/a.cc:f\n"), "no reason given")

    def test_exception_without_use(self):
        self.assertIn("not needed", self.complaints("src/a.cc", LICENCE, "src/a.cc reason\n"))

    def test_blanks_and_missing_newline_at_the_end(self):
        text = self.complaints("src/a.cc", LICENCE + "int x; \nint y;")
        self.assertIn("a.cc:3: blanks", text)
        self.assertIn("a.cc:4: no newline", text)

    def test_many_complex_functions(self):
        body = " ".join(f"if (x == {i}) y();" for i in range(15))
        text = LICENCE + "".join(f"void f{i}() {{ {body} }}\n" for i in range(3))
        self.assertIn("branches", self.complaints("src/a.cc", text))


class Functions(unittest.TestCase):
    def found(self, text):
        style = load()
        return [(f.name, f.lines) for f in style.functions(style.blank(textwrap.dedent(text)))]

    def test_functions_in_classes_and_namespaces(self):
        self.assertEqual(self.found("""\
            namespace a::b {
            struct alignas(64) S : T {
              int x = 3;
              std::array<int, 2> y{1, 2};
              int f() const { return x; }
            };
            enum class E : int { one, two };
            template <class T>
            void S::g(T t) noexcept {
              if (t) {
                f();
              }
            }
            }
            """), [("f", 1), ("S::g", 6)])

    def test_constructor_with_braced_initialisers(self):
        self.assertEqual(self.found("""\
            A::A(int x)
                : x_{x}, y_{2} {
              go();
            }
            void f() {}
            """), [("A::A", 4), ("f", 1)])

    def test_lambda_counts_to_its_function(self):
        self.assertEqual(self.found("void f() {\n  auto g = [](int x) {\n    return x;\n  };\n}\n"), [("f", 5)])

    def test_braces_in_strings_characters_and_comments(self):
        self.assertEqual(self.found("void f() {\n  a = '{'; b = \"{{\"; // {\n  c = 1'000;\n}\nvoid g() {}\n"),
                         [("f", 4), ("g", 1)])


if __name__ == "__main__":
    unittest.main()
