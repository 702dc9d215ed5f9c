import * as z from "zod/mini";

/**
 * Identifies a process, since pids are reused (protocol.md, Process identity). `procStart` is field 22 of
 * `/proc/<pid>/stat`, on macOS the output of `ps -o lstart=`.
 */
export const processIdentity = z.object({
  pid: z.int().check(z.positive()),
  procStart: z.string(),
  pidSpace: z.optional(z.string()),
  bootId: z.optional(z.string()),
});
export type ProcessIdentity = z.infer<typeof processIdentity>;

/** The tmux server of a pane: its socket and its process. */
export const tmuxServerRecord = z.object({ socket: z.string(), pid: z.number(), procStart: z.string() });
