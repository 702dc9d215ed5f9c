import { expect, it } from "vitest";
import {
  hasTakenInput,
  inputMessage,
  missedTexts,
  newestTexts,
} from "../../../../src/adapter/turns/missed-inputs.ts";
import type { ConversationMessage } from "../../../../src/agent/model/model.ts";

function input(text: string, isTaken: boolean): ConversationMessage {
  return inputMessage({ text, origin: { text, from: "team-lead" }, keys: [] }, isTaken);
}

const END: ConversationMessage = { role: "user", content: [{ type: "text", text: "[The end of a turn.]" }] };

it("missedTexts › returns the inputs since the last one that was taken", () => {
  const messages = [input("old", false), END, input("taken", true), END];
  expect(missedTexts(messages)).toEqual([]);
  expect(missedTexts([...messages, input("first", false), END, input("second", false), END])).toEqual([
    expect.stringMatching(/^\[[^\]]+\]\n\nfirst$/),
    expect.stringMatching(/^\[[^\]]+\]\n\nsecond$/),
  ]);
});

it("newestTexts › returns the input of the newest turn, after the inputs that were missed before", () => {
  const before = [input("older", true), END, input("missed", false), END];
  expect(newestTexts([...before, input("newest", true)])).toEqual([
    expect.stringMatching(/^\[[^\]]+\]\n\nmissed$/),
    "newest",
  ]);
  expect(newestTexts([])).toEqual([]);
});

it("hasTakenInput › does not count an input that was interrupted before it was taken", () => {
  expect(hasTakenInput([input("missed", false), END])).toBe(false);
  expect(hasTakenInput([input("missed", false), END, input("taken", true)])).toBe(true);
});
