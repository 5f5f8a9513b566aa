# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What counts as a sentence, and which words the plain pages do without."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from check_docs import check_plain, sentences  # noqa: E402


def lengths(text):
    return [len(words) for _, words in sentences(text.splitlines())]


class Sentences(unittest.TestCase):
    def test_they_end_before_a_capital_and_at_the_end_of_a_paragraph(self):
        self.assertEqual(lengths("One two three. Four five.\n\nSix seven:\n\n    code here\n"), [3, 2, 2])
        self.assertEqual(lengths("Over two\nlines it goes. And\non.\n"), [5, 2])
        self.assertEqual(lengths("Sizes, e.g. 64, are version 1.2 of it.\n"), [8])

    def test_items_are_apart_and_tables_headings_and_code_are_left_out(self):
        self.assertEqual(lengths("# A heading of words\n\n- one two\n- three\n  four\n\n| a | b |\n"), [2, 2])
        self.assertEqual(lengths("`trimtab run -- ./program` runs [a page](page.md#of-words).\n"), [4])


class Plain(unittest.TestCase):
    def findings(self, text):
        return [finding.split(":", 2)[2].strip() for finding in check_plain("p.md", text.splitlines())]

    def test_words_are_found_in_prose_and_tables(self):
        for text in ("It tells you.", "What mending it would win.", "A kernel goes out as written.", "Kept beside the file.",
                     "libtrimtab in the place of libcudart.", "What is missing there is prepared.", "32 sectors a request.",
                     "| a | It is told. |", "Machine code alone."):
            self.assertTrue(self.findings(text), text)

    def test_plain_words_and_code_pass(self):
        for text in ("It prints the gain.", "Fix one, then run `trimtab tells` again.", "32 sectors per request.", "    It tells.",
                     "Only machine code.", "| `it tells` | a message |", "See [the page](beside.md)."):
            self.assertEqual(self.findings(text), [], text)

    def test_long_sentences_are_named_by_line(self):
        self.assertEqual(self.findings("word " * 30 + "."), [])
        self.assertIn("31 words", self.findings("word " * 31 + ".")[0])


if __name__ == "__main__":
    unittest.main()
