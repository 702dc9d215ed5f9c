import * as z from "zod/mini";
import { formatJson, replaceFile } from "../../os/files/atomic-write.ts";
import { fileSize, removeFile } from "../../os/files/fs.ts";
import { lazily } from "../../schema/guards/guard.ts";
import type { Task } from "../../schema/task.ts";
import { readRecordFile } from "../../store/json-file.ts";
import type { TeamRef } from "../ref.ts";

/**
 * One change of links, which spans several task files: new or removed links, each as a waiting task and its blocker; a new
 * task, with the links in its own file; or a deleted task, with the tasks that name it.
 */
const linkChange = lazily(() =>
  z.union([
    z.object({ links: z.array(z.tuple([z.string(), z.string()])) }),
    z.object({ unlinked: z.array(z.tuple([z.string(), z.string()])) }),
    z.object({ created: z.string() }),
    z.object({ deleted: z.string(), namedBy: z.array(z.string()) }),
  ]),
);
type LinkChange = z.infer<ReturnType<typeof linkChange>>;

/** Access to task files for a change of links. */
export interface TaskFiles {
  isThere(id: string): boolean;
  /** Returns undefined if the task is missing or unreadable. */
  read(id: string): Task | undefined;
  change(id: string, change: (task: Task) => Task | undefined): Promise<unknown>;
}

/**
 * Applies a change of links. Call it under the tasks' lock. The change is recorded first, so that the next holder of the
 * lock finishes what a killed process began. No fsync: `teams doctor` finds what a crash of the machine leaves.
 * @param first runs before the change; if it throws, nothing was changed and the next holder has nothing to finish
 */
export async function changeLinks(
  ref: TeamRef,
  change: LinkChange,
  files: TaskFiles,
  first: () => void | Promise<void> = () => undefined,
): Promise<void> {
  replaceFile(ref.paths.linkChange, formatJson(change), { sync: false });
  await first();
  await applyLinkChange(change, files);
  removeFile(ref.paths.linkChange);
}

/** Finishes a change of links that a killed process began. Call it under the tasks' lock. */
export async function finishLinkChange(ref: TeamRef, files: TaskFiles): Promise<void> {
  if (fileSize(ref.paths.linkChange) === undefined) return;
  const change = readRecordFile(ref.paths.linkChange, linkChange());
  if (change !== undefined) await applyLinkChange(change, files);
  removeFile(ref.paths.linkChange);
}

/** Changes each file once. Idempotent. */
async function applyLinkChange(change: LinkChange, files: TaskFiles): Promise<void> {
  if ("deleted" in change) {
    if (files.isThere(change.deleted)) return;
    for (const id of change.namedBy) {
      if (files.read(id) !== undefined) await files.change(id, (task) => withoutLinks(task, change.deleted));
    }
    return;
  }
  if ("unlinked" in change) {
    for (const [waiting, blocker] of change.unlinked) {
      if (files.read(waiting) !== undefined)
        await files.change(waiting, (task) => ({
          ...task,
          blockedBy: task.blockedBy.filter((id) => id !== blocker),
        }));
      if (files.read(blocker) !== undefined)
        await files.change(blocker, (task) => ({
          ...task,
          blocks: task.blocks.filter((id) => id !== waiting),
        }));
    }
    return;
  }
  const links = linksOf(change, files).filter((ends) => ends.every((id) => files.read(id) !== undefined));
  // The waiting tasks first: `blockedBy` is the end that decides.
  const ids = new Set([...links.map(([waiting]) => waiting), ...links.map(([, blocker]) => blocker)]);
  for (const id of ids) await files.change(id, (task) => withLinks(task, links));
}

type Link = readonly [waiting: string, blocker: string];

function linksOf(
  change: Extract<LinkChange, { links: unknown } | { created: string }>,
  files: TaskFiles,
): readonly Link[] {
  if ("links" in change) return change.links;
  const { created } = change;
  return (files.read(created)?.blockedBy ?? []).map((blocker): Link => [created, blocker]);
}

function withLinks(task: Task, links: readonly Link[]): Task | undefined {
  const blockedBy = links.flatMap(([waiting, blocker]) => (waiting === task.id ? blocker : []));
  const blocks = links.flatMap(([waiting, blocker]) => (blocker === task.id ? waiting : []));
  const next = {
    ...task,
    blocks: [...new Set([...task.blocks, ...blocks])],
    blockedBy: [...new Set([...task.blockedBy, ...blockedBy])],
  };
  const grows = next.blocks.length > task.blocks.length || next.blockedBy.length > task.blockedBy.length;
  return grows ? next : undefined;
}

function withoutLinks(task: Task, gone: string): Task {
  return {
    ...task,
    blocks: task.blocks.filter((id) => id !== gone),
    blockedBy: task.blockedBy.filter((id) => id !== gone),
  };
}
