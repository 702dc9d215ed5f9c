import type { Task } from "../../schema/task.ts";

/** The repaired links of one task, and the reasons. */
export interface LinkRepair {
  readonly id: string;
  readonly blocks: readonly string[];
  readonly blockedBy: readonly string[];
  /** One sentence for each problem. */
  readonly problems: readonly string[];
}

/**
 * Returns the repairs that make both ends of all links match, after a writer was killed between two files, or another
 * program wrote one end only. A link at one end is added at the other, since the waiting task is written first; if that
 * would close a cycle, the link is removed. Links to missing tasks and to the task itself are removed. Cycles at both
 * ends are left to a person: the program cannot know which link is wrong.
 * @param tasks all tasks, including internal ones
 * @param isThere returns true if a task's file exists, even an unreadable one: links to it stay
 */
export function repairLinks(
  tasks: readonly Task[],
  isThere: (id: string) => boolean = () => false,
): LinkRepair[] {
  const drafts = new Map(tasks.map((task) => [task.id, draftOf(task)]));
  for (const draft of drafts.values()) dropDead(draft, (id) => drafts.has(id) || isThere(id));
  for (const draft of drafts.values()) {
    for (const id of draft.blockedBy) {
      const blocker = drafts.get(id);
      if (blocker === undefined || blocker.blocks.has(draft.id)) continue;
      blocker.blocks.add(draft.id);
      blocker.problems.push(`#${id} did not name #${draft.id}, which waits for it`);
    }
  }
  for (const draft of drafts.values()) {
    for (const id of draft.blocks) completeBlock(draft, id, drafts);
  }
  return [...drafts.values()].flatMap(({ id, blocks, blockedBy, problems }) =>
    problems.length === 0 ? [] : [{ id, blocks: [...blocks], blockedBy: [...blockedBy], problems }],
  );
}

interface Draft {
  readonly id: string;
  readonly blocks: Set<string>;
  readonly blockedBy: Set<string>;
  readonly problems: string[];
}

function draftOf({ id, blocks, blockedBy }: Task): Draft {
  return { id, blocks: new Set(blocks), blockedBy: new Set(blockedBy), problems: [] };
}

function dropDead({ id, blocks, blockedBy, problems }: Draft, isThere: (id: string) => boolean): void {
  for (const list of [blocks, blockedBy]) {
    for (const other of list) {
      if (other !== id && isThere(other)) continue;
      list.delete(other);
      problems.push(
        other === id ? `#${id} was linked to itself` : `#${id} named #${other}, which does not exist`,
      );
    }
  }
}

/** Repairs a link that only the blocker names. */
function completeBlock(draft: Draft, id: string, drafts: ReadonlyMap<string, Draft>): void {
  const waiting = drafts.get(id);
  if (waiting === undefined || waiting.blockedBy.has(draft.id)) return;
  if (waitsFor(draft, id, drafts)) {
    draft.blocks.delete(id);
    draft.problems.push(`#${draft.id} named #${id} as waiting, but waits for it itself`);
    return;
  }
  waiting.blockedBy.add(draft.id);
  waiting.problems.push(`#${id} did not name #${draft.id}, which blocks it`);
}

/** True if a task waits for another, directly or through other tasks. */
function waitsFor(from: Draft, id: string, drafts: ReadonlyMap<string, Draft>): boolean {
  const seen = new Set<string>();
  const open = [...from.blockedBy];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === id) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(drafts.get(next)?.blockedBy ?? []));
  }
  return false;
}
