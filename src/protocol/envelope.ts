/** One message in the form that a model reads (protocol.md section 3, "What a model reads"). */
export interface Envelope {
  readonly from: string;
  readonly body: string;
  readonly color?: string | undefined;
  readonly summary?: string | undefined;
}

/** Formats several messages as one user turn, joined by blank lines. */
export function formatEnvelopes(envelopes: readonly Envelope[]): string {
  return envelopes.map(formatEnvelope).join("\n\n");
}

function formatEnvelope({ from, body, color, summary }: Envelope): string {
  const attributes = [
    `teammate_id="${escapeAttribute(from)}"`,
    ...(color ? [`color="${escapeAttribute(color)}"`] : []),
    ...(summary ? [`summary="${escapeAttribute(summary)}"`] : []),
  ];
  return `<teammate_message ${attributes.join(" ")}>\n${escapeBody(body)}\n</teammate_message>`;
}

/** Characters that a reader may overlook between `<` and a name: whitespace and invisible characters. */
const GAP = "[\\s\\p{Cf}\\p{Cc}\\p{Default_Ignorable_Code_Point}\\u2800]*";
const TAG_START = new RegExp(`<(?=${GAP}(?:/${GAP})?[\\p{L}!?_])`, "gu");

/** The beginning of an entity. */
const ENTITY_START = /&(?=(?:lt|gt|quot|amp);)/g;

/**
 * Escapes every `<` that could begin a tag, so no text can close or open one; also the `&` of an entity, so the escape is reversible.
 */
export function escapeBody(text: string): string {
  return text.replace(ENTITY_START, "&amp;").replace(TAG_START, "&lt;");
}

function escapeAttribute(text: string): string {
  return text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;")
    .replace(/\s+/g, " ");
}

/** The first line of a message. Its attributes are escaped. */
const START = /<teammate_message teammate_id="([^"<>]*)"[^<>]*>\n/g;
const END = "\n</teammate_message>";

/** Splits a turn's text into messages and the text between them, in order; no part is empty. */
export function readEnvelopes(text: string): (Pick<Envelope, "from" | "body"> | { readonly text: string })[] {
  const parts: (Pick<Envelope, "from" | "body"> | { readonly text: string })[] = [];
  let end = 0;
  const between = (to: number): void => {
    const rest = text.slice(end, to).trim();
    if (rest !== "") parts.push({ text: rest });
  };
  for (const { index, 0: start, 1: from = "" } of text.matchAll(START)) {
    if (index < end) continue;
    const bodyEnd = text.indexOf(END, index + start.length);
    if (bodyEnd < 0) break;
    between(index);
    parts.push({ from: unescaped(from), body: unescaped(text.slice(index + start.length, bodyEnd)) });
    end = bodyEnd + END.length;
  }
  between(text.length);
  return parts;
}

const ENTITIES: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };

/** Reverses the escaping of a body or an attribute. */
export function unescaped(text: string): string {
  return text.replace(/&(?:lt|gt|quot|amp);/g, (entity) => ENTITIES[entity] ?? entity);
}
