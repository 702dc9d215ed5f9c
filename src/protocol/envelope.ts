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
