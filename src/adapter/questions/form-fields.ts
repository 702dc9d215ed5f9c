import { type Fields, fieldsOf } from "../reported-values.ts";
import type { AskedField, FieldChoice } from "./ask-fields.ts";

/** A form with more fields is left to the person at the CLI's own screen. */
const MANY_FIELDS = 12;
const YES: FieldChoice = { label: "yes", value: true };
const NO: FieldChoice = { label: "no", value: false };

/** The key of the field that represents a form without fields: whether the person agrees. */
const CONSENT = "";

/**
 * Returns the fields of an elicitation form, as MCP and the Agent Client Protocol define them.
 * @returns undefined for a form that cannot be asked as questions
 */
export function formFields(message: unknown, schema: unknown): readonly AskedField[] | undefined {
  const text = typeof message === "string" && message !== "" ? message : "It asks for your agreement.";
  const { properties, required } = fieldsOf(schema);
  const all = Object.entries(fieldsOf(properties));
  if (all.length > MANY_FIELDS) return undefined;
  if (all.length === 0) return [{ key: CONSENT, question: text, choices: [YES, NO], isMultiple: false }];
  const needed = Array.isArray(required) ? required : [];
  const fields: AskedField[] = [];
  for (const [key, property] of all) {
    const field = fieldOf(key, fieldsOf(property), text, all.length > 1);
    if (field === undefined) return undefined;
    const skip: FieldChoice = { label: "skip", description: "leave it out", value: undefined };
    fields.push(needed.includes(key) ? field : { ...field, choices: [...field.choices, skip] });
  }
  return fields;
}

function fieldOf(key: string, property: Fields, message: string, isNamed: boolean): AskedField | undefined {
  const { type, title, description, items } = property;
  const about = [title, description].filter((one) => typeof one === "string" && one !== "").join(": ");
  const question = isNamed || about !== "" ? `${message} ${about === "" ? key : about}` : message;
  const field = { key, question, choices: [], isMultiple: false };
  switch (type) {
    case "string": {
      const choices = choicesOf(property);
      return choices.length > 0 ? { ...field, choices } : { ...field, read: (text) => text };
    }
    case "boolean":
      return { ...field, choices: [YES, NO] };
    case "number":
    case "integer":
      return { ...field, read: (text) => numberOf(text, type === "integer") };
    case "array": {
      const choices = choicesOf(fieldsOf(items));
      return choices.length > 0 ? { ...field, choices, isMultiple: true } : undefined;
    }
    default:
      return undefined;
  }
}

/** Returns the choices of a property: its `enum`, or a list of constants with titles. */
function choicesOf({ enum: names, oneOf, anyOf }: Fields): readonly FieldChoice[] {
  if (Array.isArray(names)) return names.filter(isText).map((value) => ({ label: value, value }));
  const constants = [oneOf, anyOf].find(Array.isArray) ?? [];
  return constants.map(fieldsOf).flatMap(({ const: value, title }) => {
    if (!isText(value)) return [];
    return [{ label: isText(title) && title !== "" ? title : value, value }];
  });
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function numberOf(text: string, isWhole: boolean): number | undefined {
  const number = Number(text);
  return text !== "" && Number.isFinite(number) && (!isWhole || Number.isInteger(number))
    ? number
    : undefined;
}

/** Returns the content of an accepted form; undefined if the person did not agree. */
export function formContent(values: ReadonlyMap<string, unknown> | undefined): Fields | undefined {
  if (values === undefined || values.get(CONSENT) === false) return undefined;
  return Object.fromEntries([...values].filter(([key]) => key !== CONSENT));
}

/**
 * Returns the fields of the questions that the model of Codex or OpenCode asks with options.
 * @param questions a value of unknown form
 * @param keyOf returns the key of a question; undefined if it cannot be asked
 * @returns undefined if one of them cannot be asked
 */
export function optionFields(
  questions: unknown,
  keyOf: (question: Fields, at: number) => string | undefined,
): readonly AskedField[] | undefined {
  const all = (Array.isArray(questions) ? questions : []).map(fieldsOf);
  if (all.length === 0 || all.length > MANY_FIELDS) return undefined;
  const fields = all.flatMap((one, at): AskedField[] => {
    const { question, header, options, multiple, custom } = one;
    const key = keyOf(one, at);
    if (key === undefined || !isText(question)) return [];
    const choices = (Array.isArray(options) ? options : [])
      .map(fieldsOf)
      .flatMap(({ label, description }) => {
        const about = isText(description) ? description : undefined;
        return isText(label) ? [{ label, description: about, value: label }] : [];
      });
    const isFree = choices.length === 0 || custom !== false;
    const text = isText(header) && header !== "" && header !== question ? `${header}: ${question}` : question;
    const isMultiple = multiple === true;
    const read = isFree ? (answer: string) => (isMultiple ? [answer] : answer) : undefined;
    return [{ key, question: text, choices, isMultiple, read }];
  });
  return fields.length === all.length ? fields : undefined;
}
