import { asciiRow } from "../text/ascii.ts";
import type { Io } from "./io.ts";

/** Returns the outputs of `io` for a locale without UTF-8: a terminal gets only ASCII, a file or a pipe all characters. */
export function asciiOutputs(io: Pick<Io, "terminal" | "out" | "err">): Pick<Io, "out" | "err"> {
  return {
    out: (text) => io.out(io.terminal.stdout ? asciiRow(text) : text),
    err: (text) => io.err(io.terminal.stderr ? asciiRow(text) : text),
  };
}
