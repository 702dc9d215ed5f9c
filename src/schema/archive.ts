import * as z from "zod/mini";

/** What we write; a reader refuses a later one, since it cannot know what it would leave out. */
export const ARCHIVE_VERSION = 1;

/** The first file of an archive: which team it holds, and every other file by its name and its size in bytes. */
export const archiveManifest = z.object({
  format: z.literal("tmux-teams"),
  version: z.int(),
  team: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  files: z.array(z.object({ name: z.string(), size: z.int().check(z.nonnegative()) })),
});
export type ArchiveManifest = z.infer<typeof archiveManifest>;
