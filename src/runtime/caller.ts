import type { Io } from "../terminal/io.ts";
import type { Output } from "../terminal/output.ts";

/** The parts of the calling program that an operation needs. The caller is a command, or a program that uses the library. */
export interface Caller {
  readonly io: Pick<Io, "env" | "cwd" | "program" | "interruption">;
  readonly out: Pick<Output, "note">;
}
