import * as z from "zod/mini";
import { visibleMetadata } from "../schema/guards/visible-metadata.ts";
import type { Task } from "../schema/task.ts";
import type { TeamRef } from "../team/ref.ts";
import { type ProvenTask, withProof } from "../team/tasks/task-proof.ts";
import { isoTime } from "../text/local-time.ts";

/** A task's id as a model writes it: a string or a number. */
export const anyTaskId = z.pipe(z.union([z.string(), z.number()]), z.transform(String));
export const taskIdInput = anyTaskId.check(z.describe("The task's id"));
/** Data that is stored with a task. */
export const metadataInput = z.record(z.string(), z.unknown());

/** The fields by which a task is reviewed and its files are reserved. A verify command is set by people, not by models. */
export const reviewerInput = z
  .optional(z.string())
  .check(z.describe("The member that reviews the completed task; an empty string removes it"));
export const touchesInput = z
  .optional(z.array(z.string()))
  .check(
    z.describe(
      "Globs of the files it changes, relative to the project: tasks whose globs overlap never run together",
    ),
  );

/** Returns a task without this program's private metadata (keys that begin with `_`), with its claim and verify result. */
export function publicTask(ref: TeamRef, task: Task): Record<string, unknown> {
  const { metadata, ...rest } = task;
  return { ...rest, metadata: visibleMetadata(metadata), ...proofFacts(withProof(ref, task)) };
}

/** Returns those of a task's fields that are set: the reviewer, the files, and the verify command with its result. */
export function proofFacts(task: ProvenTask): Record<string, unknown> {
  const { verify, reviewer, touches, said, shown, verifyRun } = task;
  return {
    ...(reviewer === null ? {} : { reviewer }),
    ...(touches.length === 0 ? {} : { touches }),
    ...(verify === null ? {} : { verify }),
    ...(shown === "none" ? {} : { said, shown }),
    ...(verifyRun === null ? {} : { verifyRun: { ...verifyRun, at: isoTime(verifyRun.at) } }),
  };
}
