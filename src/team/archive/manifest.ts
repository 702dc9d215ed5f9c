import * as z from "zod/mini";

/** The version of archives that we write; a reader refuses a newer one, since it might lose data. */
export const ARCHIVE_VERSION = 1;

/** The first file of an archive: its team, and all other files by name and size in bytes. */
export const archiveManifest = z.object({
  format: z.literal("tmux-teams"),
  version: z.int(),
  team: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  files: z.array(z.object({ name: z.string(), size: z.int().check(z.nonnegative()) })),
});
export type ArchiveManifest = z.infer<typeof archiveManifest>;
