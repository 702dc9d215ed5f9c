import { type Appended, formatJson } from "../../os/files/atomic-write.ts";
import type { FileEnd } from "../../os/files/file-end.ts";
import type { InboxMessage } from "../../schema/inbox.ts";
import { readEntry } from "./inbox-format.ts";

/** The end of an array of objects, as every program formats it. A JSON string contains no such line ends. */
const END = "\n  }\n]";
const LAST_ENTRY = "\n  {\n";

/**
 * Returns the content of an inbox with additional messages, from the end of the file alone.
 * @returns undefined if the file has another format, or its last entry is not a whole message: the caller must then read the whole file
 */
export function appendedTo(
  { start, bytes, size }: FileEnd,
  messages: readonly InboxMessage[],
): Appended | undefined {
  const text = bytes.toString("utf8");
  const last = text.lastIndexOf(LAST_ENTRY);
  if (start !== "[\n" || !text.endsWith(END) || last < 0) return undefined;
  if (!isMessage(text.slice(last, -"\n]".length))) return undefined;
  return { keep: size - "\n]".length, more: `,${formatJson(messages).slice("[".length)}` };
}

function isMessage(text: string): boolean {
  try {
    return readEntry(JSON.parse(text)) !== undefined;
  } catch {
    // The file is damaged or in the middle of a write: the caller reads the whole file.
    return false;
  }
}
