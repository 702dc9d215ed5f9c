import type { FileSystem } from "typescript/unstable/fs";

/** Sentences for text that is cut elsewhere than in src/text/characters/, in the files below `src/` of a project. */
export function textCuts(options: {
  /** Path of tsconfig.json. */
  readonly config: string;
  readonly root: string;
  /** Files that are read in place of the disk's. */
  readonly fs?: FileSystem;
}): string[];
