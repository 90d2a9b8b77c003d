"""Near-duplicates and missing links on the command line."""

import json

import pytest


def answer(process):
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def test_similar_of_an_item(reqall):
    found = answer(reqall("similar", "AIP-TSTRN-8", "--project", "AIP", "--pipeline", "lexical", "--json"))
    assert [each["document_key"] for each in found["results"]] == ["AIP-TSTRN-14", "AIP-TC-10"]
    assert found["results"][0]["differences"] == ["14 -> 15"]
    printed = reqall("similar", "AIP-TSTRN-8", "-p", "AIP", "--pipeline", "lexical", "--threshold", "0.95")
    lines = printed.stdout.splitlines()
    assert lines[0].startswith("0.9")
    assert "AIP-TSTRN-14" in lines[0]
    assert lines[1].strip() == "14 -> 15"
    assert "1 of 100 compared items are like AIP-TSTRN-8 at 0.95 or more" in lines[2]


def test_similar_of_a_project(reqall):
    found = answer(reqall("similar", "--project", "AIP", "--type", "Test Run", "--limit", "1", "--json"))
    assert (found["pairs"][0]["first"], found["pairs"][0]["second"]) == ("AIP-TSTRN-8", "AIP-TSTRN-14")
    assert len(found["pairs"]) == 1 < found["total"]
    printed = reqall("similar", "--project", "AIP", "--type", "Test Run", "--limit", "1")
    assert "AIP-TSTRN-8 ~ AIP-TSTRN-14" in printed.stdout


def test_suggest_links_of_an_item(reqall):
    command = ("suggest-links", "AIP-SYSR-12", "-p", "AIP", "--type", "Test Case", "--pipeline", "lexical")
    found = answer(reqall(*command, "--json"))
    assert any(link.startswith("AIP-TC-9 ") and "downstream, Verifies" in link for link in found["existing_links"])
    assert "AIP-TC-7" in [each["document_key"] for each in found["results"]]
    printed = reqall(*command)
    assert "linked: AIP-TC-9" in printed.stdout
    assert "words: " in printed.stdout


def test_suggest_links_of_a_project(reqall):
    command = ("suggest-links", "-p", "AIP", "--from-type", "Test Case", "--to-type", "System Requirement")
    found = answer(reqall(*command, "--pipeline", "lexical", "--threshold", "0", "--limit", "2", "--json"))
    assert len(found["pairs"]) == 2
    assert found["from_without_links"] == ["AIP-TC-22", "AIP-TC-26"]
    printed = reqall(*command, "--pipeline", "lexical", "--threshold", "0", "--limit", "2")
    assert "2 of 28 items asked have no such link: AIP-TC-22, AIP-TC-26" in printed.stdout
    assert "existing links are among the first 10 hits" in printed.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("similar", "AIP-TC-99", "-p", "AIP"), "no item 'AIP-TC-99' in project AIP"),
        (("suggest-links", "AIP-TC-1", "-p", "AIP", "--to-type", "Test Case"), "for a whole project"),
        (("suggest-links", "-p", "AIP", "--type", "Test Case"), "for one item"),
        (("suggest-links", "-p", "AIP", "--from-type", "Test Case"), "--to-type, or an item"),
    ],
)
def test_what_cannot_be_is_one_message(reqall, arguments, told):
    process = reqall(*arguments)
    assert process.returncode == 1
    assert process.stdout == ""
    assert process.stderr.startswith("error: ")
    assert told in process.stderr
    assert "Traceback" not in process.stderr
