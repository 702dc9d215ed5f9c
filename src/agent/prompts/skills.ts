import { join } from "node:path";
import * as z from "zod/mini";
import { messageOf } from "../../errors.ts";
import { listDir } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/real-path.ts";
import { isInside } from "../permissions/protected-paths.ts";
import type { Tool } from "../tool.ts";
import { failed } from "../tools/file-access.ts";
import { readTextFile } from "../tools/text-file.ts";
import { readDocument, textOfField } from "./front-matter.ts";
import type { IsReadDenied } from "./memory-files.ts";
import { skillDirectories } from "./skill-directories.ts";

/** Something that somebody wrote down how to do. */
interface Skill {
  readonly name: string;
  readonly description: string;
  /** Its `SKILL.md`; what it names lies beside it. */
  readonly path: string;
}

interface Skills {
  readonly skills: readonly Skill[];
  /** One sentence for each that cannot be used. */
  readonly problems: readonly string[];
}

/** Skills that are listed at most, and characters of a description: every call of the model pays for the list. */
const MAX_SKILLS = 100;
const MAX_DESCRIPTION = 500;

/**
 * The skills of the root, and of the working directory over them; of each only the front matter is kept. The root's may be
 * links of the user's own to anywhere, a project's stay inside of it. One that a rule keeps from being read is left out.
 */
export function loadSkills(root: string, cwd: string, isKeptBack: IsReadDenied): Skills {
  const skills = new Map<string, Skill>();
  const problems: string[] = [];
  const [own, project] = skillDirectories(root, cwd);
  for (const directory of [own, project]) {
    for (const entry of listDir(directory).sort()) {
      const path = join(directory, entry, "SKILL.md");
      try {
        const file = readTextFile(path);
        if (file.flaw !== undefined) continue;
        if (directory !== own && !isInside(realPathOf(path), realPathOf(cwd)))
          throw new Error(`it leads out of ${cwd}`);
        if (isKeptBack(path, cwd)) throw new Error("a rule for Read keeps it back");
        const { matter } = readDocument(file.text);
        const name = nameOf(textOfField(matter.name) ?? entry);
        const description = textOfField(matter.description)?.replace(/[\s\p{Cc}]+/gu, " ") ?? "";
        skills.set(name, { name, description: description.slice(0, MAX_DESCRIPTION), path });
      } catch (error) {
        problems.push(`${path}: ${messageOf(error)}`);
      }
    }
  }
  const all = [...skills.values()];
  if (all.length > MAX_SKILLS)
    problems.push(`${all.length - MAX_SKILLS} skills are left out: ${MAX_SKILLS} are listed.`);
  return { skills: all.slice(0, MAX_SKILLS), problems };
}

/** It is a word of a list that a model reads with every call. */
function nameOf(name: string): string {
  if (/^[\p{L}\p{N}][\p{L}\p{N} _.:-]{0,63}$/u.test(name)) return name;
  throw new Error(`${JSON.stringify(name.slice(0, 80))} cannot be the name of a skill`);
}

/** The list of them, as a section of the system prompt; undefined where there are none. */
export function skillsSection(skills: readonly Skill[]): string | undefined {
  if (skills.length === 0) return undefined;
  const lines = skills.map(
    ({ name, description }) => `- ${name}${description === "" ? "" : `: ${description}`}`,
  );
  return `# Skills\n\nInstructions that somebody wrote down for these kinds of work. Where one fits, load it with Skill before you begin.\n\n${lines.join("\n")}`;
}

interface SkillInput {
  readonly skill: string;
  readonly args?: string | undefined;
}

/** Who names none of them is told so at once: no rule and no person has anything to say of it. */
function inputFor(skills: readonly Skill[]): z.ZodMiniType<SkillInput> {
  const names = skills.map(({ name }) => name);
  const none = `there is no skill of this name; there are: ${names.toSorted().join(", ")}`;
  const isOne = (name: string): boolean => names.includes(name);
  return z.object({
    skill: z.string().check(z.refine(isOne, none), z.describe("Its name, as it is listed")),
    args: z.optional(z.string()).check(z.describe("What to use it on")),
  });
}

/** The tool that gives a skill's text; it is read when it is asked for. */
export function skillTool(skills: readonly Skill[]): Tool<SkillInput> {
  return {
    name: "Skill",
    description:
      "Loads one of the listed skills: the text that says how it is done. Do as it says, with the tools that you have; files that it names are in the directory given with it.",
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
      if (file.flaw !== undefined) return failed(file.flaw);
      const { body } = readDocument(file.text);
      const asked = args === undefined ? "" : `\n\nUse it on: ${args}`;
      return {
        content: `Its directory: ${join(found.path, "..")}\n\n${body}${asked}`,
        data: { path: found.path },
      };
    },
  };
}
