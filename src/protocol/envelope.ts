/** One message as a model reads it (protocol.md section 3, "What a model reads"). */
export interface Envelope {
  readonly from: string;
  readonly body: string;
  readonly color?: string | undefined;
  readonly summary?: string | undefined;
}

/** Several messages as one user turn, joined by a blank line. */
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

/** What a reader may overlook between `<` and a name: blanks, and characters that are not seen. */
const GAP = "[\\s\\p{Cf}\\p{Cc}]*";
const TAG_START = new RegExp(`<(?=${GAP}/?${GAP}[\\p{L}!?_])`, "gu");

/** No text can close the tag or open another: every `<` that could begin one is escaped, and so is `&`, to stay reversible. */
export function escapeBody(text: string): string {
  return text.replace(/&/g, "&amp;").replace(TAG_START, "&lt;");
}

function escapeAttribute(text: string): string {
  return text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;")
    .replace(/\s+/g, " ");
}

const ENVELOPE = /<teammate_message teammate_id="([^"]*)"[^>]*>\n([\s\S]*?)\n<\/teammate_message>/g;

/** A turn's text as its parts: messages, and what stands between them; in order, and none is empty. */
export function readEnvelopes(text: string): (Pick<Envelope, "from" | "body"> | { readonly text: string })[] {
  const parts: (Pick<Envelope, "from" | "body"> | { readonly text: string })[] = [];
  let end = 0;
  const between = (to: number): void => {
    const words = text.slice(end, to).trim();
    if (words !== "") parts.push({ text: words });
  };
  for (const { index, 0: whole, 1: from = "", 2: body = "" } of text.matchAll(ENVELOPE)) {
    between(index);
    parts.push({ from: unescaped(from), body: unescaped(body) });
    end = index + whole.length;
  }
  between(text.length);
  return parts;
}

const ENTITIES: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };

/** The text of a body or an attribute as it was before it was escaped. */
export function unescaped(text: string): string {
  return text.replace(/&(?:lt|gt|quot|amp);/g, (entity) => ENTITIES[entity] ?? entity);
}
