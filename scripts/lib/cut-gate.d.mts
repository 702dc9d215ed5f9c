import type { FileSystem } from "typescript/unstable/fs";

/** Sentences for text that is cut outside src/text/characters/, in the files below `src/` of a project. */
export function textCuts(options: {
  /** Path of tsconfig.json. */
  readonly config: string;
  readonly root: string;
  /** Files that are read instead of those on the disk. */
  readonly fs?: FileSystem;
}): string[];
