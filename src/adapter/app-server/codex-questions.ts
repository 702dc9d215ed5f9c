import type { AskedField } from "../questions/ask-fields.ts";
import { formContent, formFields, optionFields } from "../questions/form-fields.ts";
import { type Fields, fieldsOf } from "../reported-values.ts";

/** A question from Codex's model or from an MCP server. */
export interface CodexQuestion {
  readonly fields: readonly AskedField[];
  /** Returns the answer to the request. @param values undefined if the person declined */
  answer(values: ReadonlyMap<string, unknown> | undefined): Fields;
}

/** Reads a question. @returns undefined if only a person at the screen can answer it: a secret, a URL to open */
export function codexQuestion(method: string, params: Fields): CodexQuestion | undefined {
  if (method === "item/tool/requestUserInput") {
    // The team's files contain the answers, so no secret is asked for.
    const fields = optionFields(params.questions, ({ id, isSecret }) =>
      typeof id === "string" && isSecret !== true ? id : undefined,
    );
    return fields && { fields, answer: (values) => ({ answers: answersOf(values) }) };
  }
  const isForm = params.mode === undefined || params.mode === "form";
  const fields = isForm ? formFields(params.message, fieldsOf(params.requestedSchema)) : undefined;
  return fields && { fields, answer: elicited };
}

function answersOf(values: ReadonlyMap<string, unknown> | undefined): Fields {
  return Object.fromEntries([...(values ?? [])].map(([id, value]) => [id, { answers: [value].flat() }]));
}

function elicited(values: ReadonlyMap<string, unknown> | undefined): Fields {
  const content = formContent(values);
  return content === undefined
    ? { action: "decline", content: null, _meta: null }
    : { action: "accept", content, _meta: null };
}
