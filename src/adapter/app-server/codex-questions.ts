import type { AskedField } from "../questions/ask-fields.ts";
import { formContent, formFields, optionFields } from "../questions/form-fields.ts";
import { fieldsOf } from "../requests.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A question of Codex, of its model or of an MCP server. */
export interface CodexQuestion {
  readonly fields: readonly AskedField[];
  /** @param values undefined: the person declined */
  answer(values: ReadonlyMap<string, unknown> | undefined): Fields;
}

/** @returns undefined for a question that only a person at its screen can answer: a secret, an address to open */
export function codexQuestion(method: string, params: Fields): CodexQuestion | undefined {
  if (method === "item/tool/requestUserInput") {
    // Answers are in files of the team.
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
