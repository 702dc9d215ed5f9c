import { join } from "node:path";

/** Where skills are: the user's own, then the working directory's, which count over those. */
export function skillDirectories(root: string, cwd: string): readonly [own: string, project: string] {
  return [join(root, "skills"), join(cwd, ".claude", "skills")];
}
