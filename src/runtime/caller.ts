import type { Io } from "../terminal/io.ts";
import type { Output } from "../terminal/output.ts";

/** What an operation needs of the program that calls it. A command has all of it, and so has a program that uses the library. */
export interface Caller {
  readonly io: Pick<Io, "env" | "cwd" | "program" | "interruption">;
  readonly out: Pick<Output, "note">;
}
