import type { Task } from "../../schema/task.ts";

/** What the lists of one task become, and why. */
export interface LinkRepair {
  readonly id: string;
  readonly blocks: readonly string[];
  readonly blockedBy: readonly string[];
  /** One sentence for each flaw. */
  readonly flaws: readonly string[];
}

/**
 * What brings both ends of all links in step again, after a writer that was killed between two files or a foreign one
 * that keeps one end only. A link that stands at one end gets the other, since the waiting task is written first; where
 * that would close a circle it goes. Links to what is not there, and to the task itself, go. Circles that stand at both
 * ends are left to a person: nothing here knows which link is wrong.
 * @param tasks all of them, internal ones too
 * @param isThere whether a task's file is on disk, also one that cannot be read: links to it stay
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
      blocker.flaws.push(`#${id} did not name #${draft.id}, which waits for it`);
    }
  }
  for (const draft of drafts.values()) {
    for (const id of draft.blocks) completeBlock(draft, id, drafts);
  }
  return [...drafts.values()].flatMap(({ id, blocks, blockedBy, flaws }) =>
    flaws.length === 0 ? [] : [{ id, blocks: [...blocks], blockedBy: [...blockedBy], flaws }],
  );
}

interface Draft {
  readonly id: string;
  readonly blocks: Set<string>;
  readonly blockedBy: Set<string>;
  readonly flaws: string[];
}

function draftOf({ id, blocks, blockedBy }: Task): Draft {
  return { id, blocks: new Set(blocks), blockedBy: new Set(blockedBy), flaws: [] };
}

function dropDead({ id, blocks, blockedBy, flaws }: Draft, isThere: (id: string) => boolean): void {
  for (const list of [blocks, blockedBy]) {
    for (const other of list) {
      if (other !== id && isThere(other)) continue;
      list.delete(other);
      flaws.push(other === id ? `#${id} was linked to itself` : `#${id} named #${other}, which is not there`);
    }
  }
}

/** A task that is named as blocked, but does not say that it waits. */
function completeBlock(draft: Draft, id: string, drafts: ReadonlyMap<string, Draft>): void {
  const waiting = drafts.get(id);
  if (waiting === undefined || waiting.blockedBy.has(draft.id)) return;
  if (waitsFor(draft, id, drafts)) {
    draft.blocks.delete(id);
    draft.flaws.push(`#${draft.id} claimed to block #${id}, for which it waits itself`);
    return;
  }
  waiting.blockedBy.add(draft.id);
  waiting.flaws.push(`#${id} did not say that it waits for #${draft.id}, which names it`);
}

/** Whether a task waits for another, on whatever way. */
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
