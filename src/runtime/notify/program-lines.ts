import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** Maximum characters of a line of a program; a longer line is dropped. */
const MAX_LINE = 64 * 1024;

/** Reads the lines of a program. @param line receives each line; undefined for a line that is too long */
export function readLines(stream: Readable, line: (text: string | undefined) => void): void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let isTooLong = false;
  stream.on("data", (bytes: Buffer) => {
    const parts = `${rest}${decoder.write(bytes)}`.split("\n");
    rest = parts.pop() ?? "";
    for (const text of parts) {
      if (isTooLong || text.length > MAX_LINE) line(undefined);
      else if (text.trim() !== "") line(text);
      isTooLong = false;
    }
    if (rest.length <= MAX_LINE) return;
    rest = "";
    isTooLong = true;
  });
}
