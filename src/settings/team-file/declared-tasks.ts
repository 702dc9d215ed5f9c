import type {
  DeclaredMember,
  DeclaredTask,
  FieldProblem,
  PlaceOf,
} from "../../operations/up/declared-team.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME, sameName } from "../../schema/names.ts";
import { patternProblem, plainPatterns } from "../../team/tasks/parse-touches.ts";
import { keptText, MAX_PATTERNS } from "../../team/tasks/task-fields.ts";
import type { TeamSource } from "./source.ts";

/** Returns the tasks of all files, blockers first. Reports wrong owners and blockers, equal subjects and cycles. */
export function declaredTasks(
  sources: readonly TeamSource[],
  members: readonly Pick<DeclaredMember, "name">[],
  problems: FieldProblem[],
): DeclaredTask[] {
  const given = sources.flatMap((source) =>
    (source.content.tasks ?? []).map((content, i) => {
      const at: PlaceOf = (field) => source.at(["tasks", i, ...(field === undefined ? [] : [field])]);
      // The subject identifies the task in the team, so it must be as the task's file keeps it.
      const task = { ...content, subject: keptText(content.subject) };
      return { source, task, at, index: i };
    }),
  );
  const subjects = given.map(({ task }) => task.subject);
  for (const [i, { task, at }] of given.entries()) {
    if (subjects.indexOf(task.subject) < i)
      problems.push({ ...at("subject"), message: "there are two tasks with this subject" });
    for (const field of ["owner", "reviewer"] as const) {
      const name = task[field];
      if (name !== undefined && memberNamed(name, members) === undefined)
        problems.push({ ...at(field), message: `there is no member ${JSON.stringify(name)}` });
    }
    problems.push(...metadataProblems(task.metadata, at), ...touchesProblems(task.touches, at));
  }
  const tasks = given.map(({ source, task: { blockedBy = [], ...task }, at, index }): DeclaredTask => {
    const own = source.content.tasks ?? [];
    const blockers = blockedBy.flatMap((blocker, i) => {
      const named = typeof blocker === "number" ? own[blocker]?.subject : blocker;
      const subject = named === undefined ? undefined : keptText(named);
      if (subject !== undefined && subjects.includes(subject)) return [subject];
      const place = source.at(["tasks", index, "blockedBy", i]);
      problems.push({ ...place, message: missingBlocker(blocker, own.length) });
      return [];
    });
    const blockedBySubjects = [...new Set(blockers)];
    return {
      ...defined(task),
      ...defined({
        owner: memberNamed(task.owner, members),
        reviewer: memberNamed(task.reviewer, members),
        verify: task.verify?.trim(),
        touches: task.touches && plainPatterns(task.touches),
      }),
      blockedBy: blockedBySubjects,
      at,
    };
  });
  return blockersFirst(tasks, problems);
}

/** Returns the name as its member spells it. */
function memberNamed(
  wanted: string | undefined,
  members: readonly Pick<DeclaredMember, "name">[],
): string | undefined {
  if (wanted === undefined) return undefined;
  return [LEAD_NAME, ...members.map(({ name }) => name)].find((name) => sameName(name, wanted));
}

/** Reports a key of a user's metadata that only programs set. */
export function metadataProblems(
  metadata: Readonly<Record<string, unknown>> | undefined,
  at: PlaceOf,
): FieldProblem[] {
  const key = Object.keys(metadata ?? {}).find((one) => one.startsWith("_"));
  if (key === undefined) return [];
  return [{ ...at("metadata"), message: `${key} is reserved: keys that begin with _ are for programs` }];
}

function touchesProblems(given: readonly string[] = [], at: PlaceOf): FieldProblem[] {
  const patterns = plainPatterns(given);
  if (patterns.length > MAX_PATTERNS)
    return [{ ...at("touches"), message: `can have at most ${MAX_PATTERNS} patterns` }];
  return patterns.flatMap((pattern) => {
    const problem = patternProblem(pattern);
    return problem === undefined
      ? []
      : [{ ...at("touches"), message: `${JSON.stringify(pattern)} cannot be a pattern: ${problem}` }];
  });
}

function missingBlocker(blocker: number | string, count: number): string {
  return typeof blocker === "number"
    ? `there is no task at position ${blocker}; the positions are 0 to ${count - 1}`
    : `there is no task with the subject ${JSON.stringify(blocker)}`;
}

/** Moves each task after its blockers, and otherwise keeps the order. Reports each cycle once. */
function blockersFirst(tasks: readonly DeclaredTask[], problems: FieldProblem[]): DeclaredTask[] {
  const bySubject = new Map(tasks.map((task) => [task.subject, task]));
  const sorted = new Set<DeclaredTask>();
  const open = new Set<DeclaredTask>();
  const visit = (task: DeclaredTask): void => {
    if (sorted.has(task)) return;
    if (open.has(task)) {
      problems.push({ ...task.at("blockedBy"), message: "this task would wait for itself" });
      return;
    }
    open.add(task);
    for (const subject of task.blockedBy) {
      const blocker = bySubject.get(subject);
      if (blocker !== undefined) visit(blocker);
    }
    open.delete(task);
    sorted.add(task);
  };
  for (const task of tasks) visit(task);
  return [...sorted];
}
