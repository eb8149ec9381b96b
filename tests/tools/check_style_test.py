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

    def test_class_with_too_many_functions_and_its_exception(self):
        text = LICENCE + "#pragma once\nclass A {\n" + "".join(f"  void f{i}();\n" for i in range(46)) + "};\n"
        self.assertIn("src/base/a.h:4: A has 46 member functions (at most 45)",
                      self.complaints("src/base/a.h", text))
        self.assertEqual(self.complaints("src/base/a.h", text, "src/base/a.h:A a reason\n"), "")

    def test_class_with_too_many_data_members(self):
        text = LICENCE + "#pragma once\nstruct A {\n" + "".join(f"  int d{i} = 0;\n" for i in range(31)) + "};\n"
        self.assertIn("A has 31 data members (at most 30)", self.complaints("src/base/a.h", text))

    def test_class_in_too_many_files(self):
        for i in range(6):
            self.write(f"src/base/part{i}.cc", LICENCE + f"void A::f{i}() {{}}\n")
            self.write(f"src/wire/part{i}.cc", LICENCE + f"void B::f{i}() {{}}\n")
        text = LICENCE + "#pragma once\nclass A {};\nclass B {};\n"
        complaints = self.complaints("src/base/a.h", text)
        self.assertIn("A has 6 files with its functions (at most 5)", complaints)
        self.assertNotIn("B has", complaints, "the B of another layer")

    def test_many_complex_functions(self):
        body = " ".join(f"if (x == {i}) y();" for i in range(15))
        text = LICENCE + "".join(f"void f{i}() {{ {body} }}\n" for i in range(3))
        self.assertIn("branches", self.complaints("src/a.cc", text))


class Classes(unittest.TestCase):
    def found(self, text):
        style = load()
        return [(c.name, c.functions, c.data) for c in style.classes(style.blank(textwrap.dedent(text)))]

    def test_functions_and_data_are_told_apart(self):
        self.assertEqual(self.found("""\
            class A final : public B<int>, private C {
             public:
              explicit A(int x) : x_(x), y_{x} {}
              [[nodiscard, gnu::always_inline]] inline bool f(std::span<int (*)(void)> g) const { return x_; }
              template <class T, class U = std::map<int, T>>
              U h(T&& t) noexcept(noexcept(T())) requires(sizeof(T) > 1);
              bool operator==(const A& other) const;
              virtual void v() = 0;
             private:
              int x_ = f(3);
              std::array<int, 3> y_{};
              std::function<void(int)> z_;
              void (*callback_)(int, void*) = nullptr;
              bool (A::*member_)(int) noexcept = nullptr;
              alignas(64) std::atomic<int> word_;
              Part part_{*this, [](int x) { return x; }};
            };
            """), [("A", 5, 7)])

    def test_what_is_no_member_does_not_count(self):
        self.assertEqual(self.found("""\
            struct A {
              A() = default;
              A(const A&) = delete;
              ~A();
              using X = int;
              friend class B;
              friend bool operator<(A, A) { return true; }
              static_assert(sizeof(int) == 4);
              static constexpr int most = 3;
              enum class E : int { a, b };
              enum class F;
            };
            """), [("A", 1, 0)])

    def test_nested_classes_count_for_themselves(self):
        self.assertEqual(self.found("""\
            class A {
              struct B {
                int x = 0;
                void f();
              };
              B b_;
              void g() { struct L { int l; } local; }
            };
            """), [("A", 1, 1), ("B", 1, 1), ("L", 0, 1)])


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
