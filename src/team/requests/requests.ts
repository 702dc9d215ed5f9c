import { join } from "node:path";
import * as z from "zod/mini";
import { TeamError } from "../../errors.ts";
import { createWhole, makeDirBelow } from "../../os/files/atomic-write.ts";
import { entryOf, isMissing, listDir, removeFile } from "../../os/files/fs.ts";
import { ownSecrets, redactValue } from "../../os/redact.ts";
import { sameName } from "../../schema/names.ts";
import { metadata } from "../../schema/zod-helpers.ts";
import { formatJson } from "../../store/format-json.ts";
import { readRecordFile } from "../../store/json-file.ts";
import { assertTeam } from "../config/team-lock.ts";
import { teamNotFound } from "../config/team-not-found.ts";
import { readCached, type TeamRef } from "../ref.ts";

const REQUEST_KINDS = ["plan", "permission", "question"] as const;

/** Something that waits for somebody's decision (protocol.md section 1, `requests/`). */
const requestRecord = z.looseObject({
  id: z.string().check(z.minLength(1)),
  kind: z.enum(REQUEST_KINDS),
  from: z.string(),
  summary: z._default(z.string(), ""),
  payload: z._default(metadata, {}),
  at: z.number(),
});
export type RequestRecord = z.infer<typeof requestRecord>;

/** The one answer of a request. */
const answerRecord = z.looseObject({
  approve: z.boolean(),
  by: z._default(z.string(), ""),
  note: z.optional(z.string()),
  mode: z.optional(z.string()),
  /** Rules that the answer makes besides. */
  always: z.optional(z.array(z.string())),
  at: z.number(),
});
export type AnswerRecord = z.infer<typeof answerRecord>;

/** What a file of `requests/` must hold; undefined for one that is none of these. */
export function requestSchemaOf(file: string): z.core.$ZodType<unknown> | undefined {
  if (file.endsWith(".answer")) return answerRecord;
  return file.endsWith(".json") ? requestRecord : undefined;
}

/**
 * Puts a request down; one with this id that is there stays as it is.
 * @throws TeamError TEAM_NOT_FOUND
 */
export function openRequest(
  ref: TeamRef,
  request: Pick<RequestRecord, "id" | "kind" | "from" | "summary" | "payload" | "at">,
): void {
  assertTeam(ref);
  const path = ref.paths.request(request.id).request;
  // Who follows a team comes by at each change of its files: a look writes nothing that is there.
  if (entryOf(path) !== undefined) return;
  try {
    makeDirBelow(ref.paths.dir, ref.paths.requests);
    createWhole(path, formatJson(redactValue(request, ownSecrets())));
  } catch (error) {
    throw isMissing(error) ? teamNotFound(ref) : error;
  }
}

/**
 * Opens a request and tells whom it is for; where that fails there is none, so that asking again asks once.
 * @throws TeamError TEAM_NOT_FOUND, and whatever `tell` throws
 */
export async function openAndNotify(
  ref: TeamRef,
  request: Parameters<typeof openRequest>[1],
  tell: () => Promise<unknown>,
): Promise<void> {
  openRequest(ref, request);
  try {
    await tell();
  } catch (error) {
    closeRequest(ref, request.id);
    throw error;
  }
}

/** What waits, oldest first; answered ones are not listed. */
export function listRequests(ref: TeamRef): RequestRecord[] {
  return recordsOf(ref, (name, all) => !all.has(name.replace(/\.json$/, ".answer")));
}

/** All that an agent has asked and that was not closed, answered or not, oldest first. */
export function requestsOf(ref: TeamRef, agent: string): readonly RequestRecord[] {
  return recordsOf(ref, () => true).filter(({ from }) => from === agent);
}

function recordsOf(
  ref: TeamRef,
  isWanted: (name: string, all: ReadonlySet<string>) => boolean,
): RequestRecord[] {
  const { requests } = ref.paths;
  const names = new Set(listDir(requests));
  return [...names]
    .filter((name) => name.endsWith(".json") && isWanted(name, names))
    .map((name) => join(requests, name))
    .flatMap((path) => readCached(ref, path, () => readRecordFile(path, requestRecord)) ?? [])
    .sort((a, b) => a.at - b.at);
}

/** @throws TeamError REQUEST_NOT_FOUND when there is none, or its asker has ended */
export function readRequest(ref: TeamRef, id: string): RequestRecord {
  const request = readRecordFile(ref.paths.request(id).request, requestRecord);
  if (request === undefined) throw requestNotFound(ref, id);
  return request;
}

/**
 * Answers a request. The first answer counts, and whoever gave it ("answered") sends the one response.
 * @throws TeamError REQUEST_NOT_FOUND
 */
export async function answerRequest(
  ref: TeamRef,
  id: string,
  answer: Pick<AnswerRecord, "approve" | "by" | "note" | "mode" | "always" | "at">,
): Promise<"answered" | "already"> {
  readRequest(ref, id);
  const paths = ref.paths.request(id);
  if (!createWhole(paths.answer, formatJson(redactValue(answer, ownSecrets())))) return "already";
  if (entryOf(paths.request) !== undefined) return "answered";
  // Its asker closed it at the same moment: the answer is nobody's.
  removeFile(paths.answer);
  throw requestNotFound(ref, id);
}

/** Whether what this agent has asked for with this id still waits for its answer. */
export function isAwaitingAnswer(ref: TeamRef, wanted: string, asker: string): boolean {
  return listRequests(ref).some(({ id, from }) => id === wanted && sameName(from, asker));
}

/** The answer, if there is one. */
export function readAnswer(ref: TeamRef, id: string): AnswerRecord | undefined {
  return readRecordFile(ref.paths.request(id).answer, answerRecord);
}

/** Takes an answer back that nobody could be told: the request waits again. */
export function withdrawAnswer(ref: TeamRef, id: string): void {
  removeFile(ref.paths.request(id).answer);
}

/** Ends a request: its asker has the answer, or has ended itself. */
export function closeRequest(ref: TeamRef, id: string): void {
  const paths = ref.paths.request(id);
  removeFile(paths.request);
  removeFile(paths.answer);
}

/** Whether something of this kind, of this agent, waits for its answer. */
export function hasOpenRequest(ref: TeamRef, agent: string, wanted: RequestRecord["kind"]): boolean {
  return listRequests(ref).some(({ from, kind }) => from === agent && kind === wanted);
}

/** What an agent has asked and nobody has answered, oldest first. */
export function openQuestionsOf(ref: TeamRef, agent: string): readonly RequestRecord[] {
  return listRequests(ref).filter(({ from, kind }) => from === agent && kind === "question");
}

/** Nothing with this id waits. */
export function requestNotFound(ref: TeamRef, id: string): TeamError {
  return new TeamError(
    "REQUEST_NOT_FOUND",
    `Nothing with the id ${JSON.stringify(id)} waits in ${ref.team}.`,
    {
      hint: "teams approvals lists what waits.",
    },
  );
}
