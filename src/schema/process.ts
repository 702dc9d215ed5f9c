import * as z from "zod";

/**
 * Who a process is beyond its pid, which is used again (protocol.md, Process identity). `procStart` is field 22
 * of `/proc/<pid>/stat`, on macOS the text of `ps -o lstart=`.
 */
export const processIdentity = z.object({
  pid: z.number().int().positive(),
  procStart: z.string(),
  pidSpace: z.string().optional(),
  bootId: z.string().optional(),
});
export type ProcessIdentity = z.infer<typeof processIdentity>;
