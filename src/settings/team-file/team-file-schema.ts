import * as z from "zod/mini";
import { permissionMode } from "../../schema/config.ts";
import { SANDBOX_MODES } from "../../schema/permission-modes.ts";

/** Describes a field, for `teams up --schema`. */
const is = z.describe;

const text = z.string().check(z.minLength(1));
const texts = z.array(text);
const metadata = z.record(z.string(), z.unknown());

const TOKENS = 'must be a whole number above zero, or a string such as "500k" or "1.5M"';
const DOLLARS = 'must be a number above zero, or a string such as "2.50"';
const tokens = z.union(
  [z.int().check(z.positive()), z.string().check(z.regex(/^\d+(\.\d+)?[kKmM]?$/, TOKENS))],
  TOKENS,
);
const dollars = z.union(
  [z.number().check(z.positive()), z.string().check(z.regex(/^\d+(\.\d+)?$/, DOLLARS))],
  DOLLARS,
);
const limits = {
  maxTokens: z.optional(tokens).check(is("Maximum tokens to use: a warning at 80 %, a pause at 100 %")),
  maxCost: z.optional(dollars).check(is("Maximum cost in US dollars; only for models with a known price")),
};

const member = z.strictObject({
  name: text.check(is("Its name; of an existing teammate, up changes only the mode and the budget")),
  prompt: text.check(is("Its first message")),
  agentType: z
    .optional(text)
    .check(is("general-purpose, Explore, Plan, reviewer, …, or a type from agents/*.md")),
  model: z.optional(text).check(is("haiku, sonnet, opus, inherit, scripted[:file] or any id")),
  cli: z.optional(text).check(is("A third-party CLI instead of our agent: claude, codex, …; needs trust")),
  effort: z.optional(text).check(is("With cli: how hard its model thinks")),
  plan: z.optional(z.boolean()).check(is("It must get a plan approved before it acts")),
  permissionMode: z
    .optional(permissionMode)
    .check(is("What it may do without asking; more than default needs trust")),
  allowedTools: z
    .optional(texts)
    .check(is("Rules for tools that run without asking: Read, Bash(git:*); needs trust")),
  disallowedTools: z.optional(texts).check(is("Rules for tools that never run")),
  writes: z
    .optional(texts)
    .check(is("Patterns of the only files that it may write, relative to its directory: src/**, *.md")),
  sandbox: z
    .optional(z.enum(SANDBOX_MODES))
    .check(is("Whether its commands run in the sandbox; less than in the settings needs trust")),
  ...limits,
  cwd: z
    .optional(text)
    .check(is("Where it works, relative to the directory of this file; outside its project needs trust")),
  worktree: z
    .optional(z.union([z.boolean(), text], "must be true, false or the name of a branch"))
    .check(is("Work in its own git worktree, on this branch (true: teams/<team>/<name>)")),
  metadata: z.optional(metadata).check(is("Your own data about it, shown by --json")),
});

/** Maximum characters of a command: a person who trusts the file sees all of them. */
const MAX_COMMAND = 1_000;

const blocker = z.union([z.int().check(z.minimum(0)), text], "must be a subject, or a position from 0");

const task = z.strictObject({
  subject: text.check(
    is("What to do, in one line; of an open task, up changes only the verify command, reviewer and files"),
  ),
  description: z.optional(z.string()).check(is("The details")),
  owner: z.optional(text).check(is("The member that it is assigned to")),
  blockedBy: z
    .optional(z.array(blocker))
    .check(is("Tasks that must be completed first: subjects, or positions in this list from 0")),
  verify: z
    .optional(z.string().check(z.regex(/\S/, "must not be empty"), z.maxLength(MAX_COMMAND)))
    .check(
      is("A command that proves the completed task: teams runs it, and it must exit with 0; needs trust"),
    ),
  reviewer: z.optional(text).check(is("The member that is asked to review the completed task")),
  touches: z
    .optional(texts)
    .check(is("The files that it changes, as patterns; overlapping tasks never run at once: src/**")),
  metadata: z.optional(metadata).check(is("Your own data about it, shown by --json")),
});

const lead = z.strictObject({
  goal: z.optional(text).check(is("What the team should do; without it you type it")),
  model: z.optional(text).check(is("The lead's model; default: that of the team")),
  cli: z.optional(text).check(is("A third-party CLI that leads: codex, gemini, …; needs trust")),
  delegate: z.optional(z.boolean()).check(is("The lead only coordinates")),
});

/** Maximum numbers in one file: more than any team needs. A hostile file could keep a command busy. */
const MAX_MEMBERS = 100;
const MAX_TASKS = 1_000;

/** The file of `teams up`. An included file may leave out everything, the name too. */
export const teamFileSchema = z.strictObject({
  $schema: z.optional(z.string()),
  name: z.optional(text).check(is("The team's name; only an included file may leave it out")),
  description: z.optional(z.string()).check(is("What the team is for")),
  include: z
    .optional(z.union([text, texts], "must be a file or a list of files"))
    .check(is("Additional team files, relative to the directory of this one; the values of this file win")),
  model: z.optional(text).check(is("The model of members without a model")),
  permissionMode: z
    .optional(permissionMode)
    .check(
      is("What the lead, and members without a mode, may do without asking; more than default needs trust"),
    ),
  ...limits,
  members: z.optional(z.array(member).check(z.maxLength(MAX_MEMBERS))).check(is("The teammates")),
  tasks: z.optional(z.array(task).check(z.maxLength(MAX_TASKS))).check(is("The tasks")),
  lead: z.optional(lead).check(is("An agent that leads the team; without it you lead")),
});
export type TeamFileContent = z.infer<typeof teamFileSchema>;

/** Returns the JSON Schema of a team file. */
export function teamFileJsonSchema(): object {
  return z.toJSONSchema(teamFileSchema, { io: "input" });
}

const OBJECTS: Readonly<Record<string, object>> = {
  members: member.shape,
  tasks: task.shape,
  lead: lead.shape,
};

/** Returns the known fields of the object at a path. */
export function fieldsAt([first]: readonly PropertyKey[]): string[] {
  return Object.keys((typeof first === "string" ? OBJECTS[first] : undefined) ?? teamFileSchema.shape);
}
