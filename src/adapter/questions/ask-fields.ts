import type { ChannelQuestion } from "../channel.ts";
import { oneLine } from "../reported-values.ts";

/** A choice of a field. */
export interface FieldChoice {
  readonly label: string;
  readonly description?: string | undefined;
  /** The value for the CLI; undefined leaves the field out. */
  readonly value: unknown;
}

/** One question of a CLI. Its texts are hostile. */
export interface AskedField {
  readonly key: string;
  readonly question: string;
  readonly choices: readonly FieldChoice[];
  /** Whether an answer may name several choices, separated by commas. */
  readonly isMultiple: boolean;
  /** Reads an answer that is not a choice; undefined if it is not valid. Without this function, only a choice is an answer. */
  readonly read?: ((text: string) => unknown) | undefined;
}

/** Asks one question. Returns undefined if the person declined, or if the question was closed. */
type Ask = (question: ChannelQuestion) => Promise<string | undefined>;

/**
 * Asks a person for all fields of one request of a CLI. Repeats a question after an invalid answer.
 * @returns the value of each field, by its key; undefined if the person declined
 */
export async function askFields(
  fields: readonly AskedField[],
  ask: Ask,
): Promise<ReadonlyMap<string, unknown> | undefined> {
  const values = new Map<string, unknown>();
  for (const [at, field] of fields.entries()) {
    const position = fields.length > 1 ? `(${at + 1} of ${fields.length}) ` : "";
    const answer = await askField(field, position, ask);
    if (answer === undefined) return undefined;
    if (answer.value !== undefined) values.set(field.key, answer.value);
  }
  return values;
}

async function askField(
  field: AskedField,
  position: string,
  ask: Ask,
): Promise<{ readonly value: unknown } | undefined> {
  const question = oneLine(field.question);
  const choices = field.choices.map(shownChoice);
  for (let hint = ""; ; hint = `(Not a valid answer: ${hintOf(field)}) `) {
    const text = await ask({ question: `${hint}${position}${question}`, choices });
    if (text === undefined) return undefined;
    const value = readAnswer(field, text.trim());
    if (value !== undefined) return value;
  }
}

function hintOf({ isMultiple, choices }: AskedField): string {
  if (choices.length === 0) return "try again";
  return isMultiple ? "name one or more choices, separated by commas" : "name one of the choices";
}

function shownChoice({ label, description }: FieldChoice): string {
  return oneLine(description ? `${label}: ${description}` : label);
}

function readAnswer(field: AskedField, text: string): { readonly value: unknown } | undefined {
  const chosen = choiceOf(field, text);
  if (chosen !== undefined) return { value: field.isMultiple ? listOf(chosen.value) : chosen.value };
  if (field.isMultiple && text.includes(",")) {
    const parts = text.split(",").map((part) => choiceOf(field, part.trim())?.value);
    if (!parts.includes(undefined)) return { value: parts };
  }
  const value = field.read?.(text);
  return value === undefined ? undefined : { value };
}

/** Returns a list with the chosen value; undefined for a choice that leaves the field out. */
function listOf(value: unknown): unknown {
  return value === undefined ? undefined : [value];
}

/** Returns the choice with this text, or with this number. */
function choiceOf({ choices }: AskedField, text: string): FieldChoice | undefined {
  const wanted = text.toLowerCase();
  const found = choices.find((choice) =>
    [choice.label.trim(), shownChoice(choice)].some((known) => known.toLowerCase() === wanted),
  );
  return found ?? (/^[1-9]\d?$/.test(text) ? choices[Number(text) - 1] : undefined);
}
