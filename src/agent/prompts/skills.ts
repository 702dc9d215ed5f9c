import { join, relative } from "node:path";
import * as z from "zod/mini";
import { messageOf } from "../../errors.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { cutText, shortened } from "../../text/characters/cut-text.ts";
import { isInside } from "../permissions/protected-paths.ts";
import type { Tool } from "../tool.ts";
import { failed } from "../tools/file-access.ts";
import { readTextFile } from "../tools/text-file.ts";
import { readDocument, textOfField } from "./front-matter.ts";
import type { IsReadDenied } from "./memory-files.ts";
import { type SkillPlaces, skillDirectories, skillEntries } from "./skill-directories.ts";

/** Written instructions for one kind of work. */
interface Skill {
  readonly name: string;
  readonly description: string;
  /** Path of its `SKILL.md`. The files that it names are in the same directory. */
  readonly path: string;
  /** Whether its text may be loaded now. Undefined for the user's own skills, and for skills that do not replace one. */
  readonly isConfirmed?: ((text: string) => boolean) | undefined;
}

interface Skills {
  readonly skills: readonly Skill[];
  /** One sentence for each unusable skill or directory. */
  readonly problems: readonly string[];
}

/** Maximum number of listed skills, and characters of a description, because each model call pays for the list. */
const MAX_SKILLS = 100;
const MAX_DESCRIPTION = 500;

/**
 * Loads the front matter of the user's skills and of the working directory's skills, which replace the user's skills of the
 * same name. The user's skills may be links to anywhere, a project's skills must be inside the project. A skill that a rule
 * denies is left out.
 * @param mayReplace whether a project's skill may replace one of the user; gets its path in the project, and its text
 */
export function loadSkills(
  places: SkillPlaces,
  isReadDenied: IsReadDenied,
  mayReplace: (file: string, text: string) => boolean,
): Skills {
  const { cwd } = places;
  const skills = new Map<string, Skill>();
  const problems: string[] = [];
  const ownNames = new Set<string>();
  const entries = skillDirectories(places).flatMap((directory) => {
    const { names, problem } = skillEntries(directory);
    if (problem !== undefined) problems.push(problem);
    const { path, isOwn } = directory;
    return names.map((entry) => ({ isOwn, entry, path: join(path, entry, "SKILL.md") }));
  });
  for (const { isOwn, entry, path } of entries) {
    try {
      const found = skillAt(path, entry, isOwn ? undefined : cwd, (place) => isReadDenied(place, cwd));
      if (found === undefined) continue;
      const { name } = found.skill;
      if (isOwn) ownNames.add(name);
      // By name: a second skill of the project may replace the project's first one.
      const replaces = !isOwn && ownNames.has(name);
      const file = relative(cwd, path);
      if (replaces && !mayReplace(file, found.text))
        throw new Error(`${NOT_CONFIRMED}, so the user's skill is kept`);
      const isConfirmed = replaces ? (text: string) => mayReplace(file, text) : undefined;
      skills.set(name, { ...found.skill, isConfirmed });
    } catch (error) {
      problems.push(`${path}: ${messageOf(error)}`);
    }
  }
  const all = [...skills.values()];
  if (all.length > MAX_SKILLS)
    problems.push(`${all.length - MAX_SKILLS} skills are left out: the limit is ${MAX_SKILLS}.`);
  return { skills: all.slice(0, MAX_SKILLS), problems };
}

/**
 * @param inside links must not lead out of this directory; undefined for the user's own skills
 * @returns undefined if there is no file
 */
function skillAt(
  path: string,
  entry: string,
  inside: string | undefined,
  isDenied: (path: string) => boolean,
): { readonly skill: Skill; readonly text: string } | undefined {
  const file = readTextFile(path);
  if (file.problem !== undefined) {
    if (file.missing) return undefined;
    throw new Error(file.problem);
  }
  if (inside !== undefined && !isInside(realPathOf(path), realPathOf(inside)))
    throw new Error(`it is a link out of ${inside}`);
  if (isDenied(path)) throw new Error("a rule for Read denies it");
  const { matter } = readDocument(file.text);
  const name = nameOf(textOfField(matter.name) ?? entry);
  const description = textOfField(matter.description)?.replace(/[\s\p{Cc}]+/gu, " ") ?? "";
  return { skill: { name, description: cutText(description, MAX_DESCRIPTION), path }, text: file.text };
}

const NOT_CONFIRMED = "it would replace a skill of the user, and is not confirmed (teams trust)";

/** Returns the project's skills that replace a skill of the user: the path of each in the project, and its text. */
export function replacingSkills(
  places: SkillPlaces,
): readonly { readonly file: string; readonly text: string }[] {
  const found: { file: string; text: string }[] = [];
  const directories = skillDirectories(places);
  const hasSkills = (own: boolean): boolean =>
    directories.some((one) => one.isOwn === own && skillEntries(one).names.length > 0);
  if (!hasSkills(true) || !hasSkills(false)) return found;
  loadSkills(
    places,
    () => false,
    (file, text) => {
      found.push({ file, text });
      return true;
    },
  );
  return found;
}

/** Returns a valid name: it is used in a list that the model reads with each call. */
function nameOf(name: string): string {
  if (/^[\p{L}\p{N}][\p{L}\p{N} _.:-]{0,63}$/u.test(name)) return name;
  throw new Error(`${JSON.stringify(shortened(name, 80))} cannot be the name of a skill`);
}

/** Returns the list of skills as a section of the system prompt; undefined without skills. */
export function skillsSection(skills: readonly Skill[]): string | undefined {
  if (skills.length === 0) return undefined;
  const lines = skills.map(
    ({ name, description }) => `- ${name}${description === "" ? "" : `: ${description}`}`,
  );
  return `# Skills\n\nWritten instructions for these kinds of work. If one applies, load it with Skill before you begin.\n\n${lines.join("\n")}`;
}

interface SkillInput {
  readonly skill: string;
  readonly args?: string | undefined;
}

/** Returns the input schema. It rejects unknown names at once, before rules are checked or a person is asked. */
function inputFor(skills: readonly Skill[]): z.ZodMiniType<SkillInput> {
  const names = skills.map(({ name }) => name);
  const unknown = `there is no skill of this name; available skills: ${names.toSorted().join(", ")}`;
  const isKnown = (name: string): boolean => names.includes(name);
  return z.object({
    skill: z.string().check(z.refine(isKnown, unknown), z.describe("The skill's name, as listed")),
    args: z.optional(z.string()).check(z.describe("The file, topic or task for the skill")),
  });
}

/** Returns the tool that loads the text of a skill. The text is read at each call. */
export function skillTool(skills: readonly Skill[]): Tool<SkillInput> {
  return {
    name: "Skill",
    description:
      "Loads the instructions of one of the listed skills. Follow them with the tools that you have. The files that they name are in the skill's directory, which the result names.",
    input: inputFor(skills),
    parallel: true,
    access: ({ skill }) => ({
      kind: "read",
      paths: skills.flatMap((one) => (one.name === skill ? [one.path] : [])),
    }),
    summary: ({ skill, args }) => (args === undefined ? skill : `${skill}: ${args}`),
    async execute({ skill, args }) {
      const found = skills.find(({ name }) => name === skill);
      if (found === undefined) return failed(`There is no skill ${JSON.stringify(skill)}.`);
      const file = readTextFile(found.path);
      if (file.problem !== undefined) return failed(file.problem);
      if (found.isConfirmed?.(file.text) === false) return failed(`${found.path}: ${NOT_CONFIRMED}.`);
      const { body } = readDocument(file.text);
      const asked = args === undefined ? "" : `\n\nUse it on: ${args}`;
      return {
        content: `The skill's directory: ${join(found.path, "..")}\n\n${body}${asked}`,
        data: { path: found.path },
      };
    },
  };
}
