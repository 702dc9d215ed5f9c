import { StringDecoder } from "node:string_decoder";
import { steadyNow } from "../../os/clock.ts";
import type { TypingHandlers } from "./line-reader.ts";

/**
 * Reads lines from this process's terminal in line mode: a dumb terminal edits and echoes them itself. Reads nothing if stdin is
 * not a terminal.
 * @returns a function that ends reading
 */
export function readPlainLines({
  line,
  end,
  problem,
}: Pick<TypingHandlers, "line" | "end" | "problem">): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => undefined;
  const decoder = new StringDecoder("utf8");
  let rest = "";
  /** When the last line ended: the next one may have been begun at any time since then. */
  let lastAt = steadyNow();
  const onData = (bytes: Buffer): void => {
    const lines = `${rest}${decoder.write(bytes)}`.split("\n");
    rest = lines.pop() ?? "";
    const now = steadyNow();
    for (const text of lines) {
      if (text.trim() !== "") line(text, now, lastAt).catch(problem);
    }
    if (lines.length > 0) lastAt = now;
  };
  const onEnd = (): void => end?.();
  // A closed terminal is reported by SIGHUP.
  stdin.on("error", () => undefined);
  stdin.on("data", onData);
  stdin.on("end", onEnd);
  // An earlier reader of a line has left stdin paused.
  stdin.resume();
  return () => {
    stdin.off("data", onData);
    stdin.off("end", onEnd);
    stdin.pause();
  };
}
