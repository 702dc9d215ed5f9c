import { join } from "node:path";
import { isSystemError, messageOf } from "../../errors.ts";
import { listDir } from "../../os/files/fs.ts";

/** Where the skills of an agent are. */
export interface SkillPlaces {
  /** The directory of teams. */
  readonly root: string;
  readonly cwd: string;
  /** The user's home directory. */
  readonly home: string;
}

/** A directory of skills. */
interface SkillDirectory {
  readonly path: string;
  /** True for a directory of the user, false for one in the project. */
  readonly isOwn: boolean;
}

/**
 * Returns the directories of skills: the user's, and then the working directory's. The directories in `.agents` are shared with
 * other programs; a later directory takes precedence. A separate file, so that an agent without skills does not load the YAML
 * parser of `skills.ts`.
 */
export function skillDirectories({ root, cwd, home }: SkillPlaces): readonly SkillDirectory[] {
  const own = [join(home, ".agents", "skills"), join(root, "skills")];
  const project = PROJECT_SKILLS.map((directory) => join(cwd, directory)).filter(
    (path) => !own.includes(path),
  );
  return [...own.map((path) => ({ path, isOwn: true })), ...project.map((path) => ({ path, isOwn: false }))];
}

const PROJECT_SKILLS = [join(".agents", "skills"), join(".claude", "skills")];

interface SkillEntries {
  /** Sorted. */
  readonly names: readonly string[];
  /** Why the directory cannot be read, as a sentence; undefined if it can, or is missing. */
  readonly problem?: string;
}

/** Lists a directory of skills. The agent works without a directory that its user may not read. */
export function skillEntries({ path }: SkillDirectory): SkillEntries {
  try {
    return { names: listDir(path) };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return { names: [], problem: `${path}: its skills cannot be read (${messageOf(error)}).` };
  }
}
