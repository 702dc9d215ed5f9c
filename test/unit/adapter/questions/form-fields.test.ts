import { expect, test } from "vitest";
import { askFields } from "../../../../src/adapter/questions/ask-fields.ts";
import { formContent, formFields, optionFields } from "../../../../src/adapter/questions/form-fields.ts";

/** Answers in order, and returns the questions and what the CLI gets. */
async function filled(schema: object, ...answers: (string | undefined)[]) {
  const fields = formFields("Deploy?", schema) ?? [];
  const asked: string[] = [];
  const values = await askFields(fields, async ({ question, choices }) => {
    asked.push([question, ...choices].join(" | "));
    return answers.shift();
  });
  return { asked, content: formContent(values) };
}

const properties = {
  place: {
    type: "string",
    title: "Place",
    oneOf: [
      { const: "h", title: "Here" },
      { const: "t", title: "There" },
    ],
  },
  count: { type: "integer" },
  sure: { type: "boolean" },
  tags: { type: "array", items: { enum: ["a", "b", "c"] } },
  note: { type: "string" },
};

test("a form › is asked field by field, accepts a number, name or text, and repeats a question after an invalid answer", async () => {
  const { asked, content } = await filled(
    { properties, required: ["place", "count", "sure", "tags"] },
    ...["there", "two", "2", "1", "a, C", "skip"],
  );
  expect(content).toEqual({ place: "t", count: 2, sure: true, tags: ["a", "c"] });
  expect(asked[0]).toBe("(1 of 5) Deploy? Place | Here | There");
  expect(asked[2]).toBe("(Not a valid answer: try again) (2 of 5) Deploy? count");
});

test("a form › returns nothing if the user declines a question", async () => {
  expect((await filled({ properties }, "1", undefined)).content).toBeUndefined();
});

test("a form without fields › asks for agreement", async () => {
  expect((await filled({}, "yes")).content).toEqual({});
  expect((await filled({}, "no")).content).toBeUndefined();
});

test.each([
  ["an object", { a: { type: "object" } }],
  ["a list of free texts", { a: { type: "array", items: { type: "string" } } }],
  ["too many fields", Object.fromEntries([...Array(13).keys()].map((key) => [key, { type: "string" }]))],
])("a form with %s › is left to the person at the screen", (_what, fields) => {
  expect(formFields("Deploy?", { properties: fields })).toBeUndefined();
});

test("questions with options › show hostile texts on one line, and give the CLI its own label", async () => {
  const label = "\u001b[31mred\n";
  const fields = optionFields(
    [{ question: "Which?", options: [{ label }], custom: false }],
    (_one, at) => `${at}`,
  );
  const shown: unknown[] = [];
  const values = await askFields(fields ?? [], async (question) => {
    shown.push(question);
    return shown.length === 1 ? "green" : "red";
  });
  expect(shown[0]).toEqual({ question: "Which?", choices: ["red"] });
  expect([...(values ?? [])]).toEqual([["0", label]]);
});

test("questions with options › are left to the person at the screen if a question is malformed", () => {
  expect(
    optionFields([{ question: "Which?" }, { header: "no question" }], (_one, at) => `${at}`),
  ).toBeUndefined();
  expect(optionFields([], () => "")).toBeUndefined();
});
