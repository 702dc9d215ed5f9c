import * as z from "zod/mini";
import { TeamError } from "../errors.ts";

const recording = z.object({
  /** The file, with its header. */
  path: z.string(),
  /** The time of its header: milliseconds since the epoch. */
  startedAt: z.number(),
  pane: z.string(),
  /** The path of its server's socket. */
  socket: z.string(),
  /** The device of the pane's terminal. */
  tty: z.string(),
  /** `80x24`: the size in the header. */
  size: z.string(),
  agent: z.string(),
  /** The team's journal. */
  journal: z.string(),
  /** The agent's status record. */
  status: z.string(),
  /** A FIFO that gets a copy of the output, for a member whose process reads the screen. */
  copy: z.optional(z.string()),
  /** For an agent in a user's pane: its process, and the word of the sequence that ends the recording. */
  owner: z.optional(z.object({ pid: z.number(), word: z.string() })),
});
/** The settings of a pane's recorder: the argument of its command. */
export type Recording = z.infer<typeof recording>;

/** Parses the argument of a recorder. @throws TeamError INVALID_INPUT */
export function parseRecording(text: string): Recording {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Reported below, like JSON of another form.
  }
  const { data } = recording.safeParse(value);
  if (data !== undefined) return data;
  throw new TeamError("INVALID_INPUT", "record-pane needs a recording as JSON; nothing is recorded.", {
    hint: 'Record a team with: teams run --rec "…"',
  });
}
