import { join } from "node:path";

/**
 * Returns the directories of skills: the user's, and the working directory's, which take precedence. A separate file, so that
 * an agent without skills does not load the YAML parser of `skills.ts`.
 */
export function skillDirectories(root: string, cwd: string): readonly [own: string, project: string] {
  return [join(root, "skills"), join(cwd, ".claude", "skills")];
}
