import { join } from "node:path";
import * as z from "zod/mini";
import { pause } from "../../os/clock.ts";
import { createWhole, formatJson, makeDirBelow } from "../../os/files/atomic-write.ts";
import { entryOf, isMissing, listDir, removeFile } from "../../os/files/fs.ts";
import { ownSecrets, redactValue } from "../../os/redact.ts";
import {
  type Form,
  isFilled,
  isNumber,
  isRecord,
  isText,
  lazily,
  looseObject,
  oneOf,
} from "../../schema/guards/guard.ts";
import { sameName } from "../../schema/names.ts";
import { metadata } from "../../schema/zod-helpers.ts";
import { readRecordFile } from "../../store/json-file.ts";
import { assertTeam } from "../config/team-lock.ts";
import { teamNotFound } from "../config/team-not-found.ts";
import { readCached, type TeamRef } from "../ref.ts";
import { notOpenError, rememberAnswered } from "./answered-ids.ts";

const REQUEST_KINDS = { plan: "plan", permission: "permission", question: "question" } as const;

/** A request that waits for a decision (protocol.md section 1, `requests/`). */
const requestRecord = lazily(() =>
  z.looseObject({
    id: z.string().check(z.minLength(1)),
    kind: z.enum(REQUEST_KINDS),
    from: z.string(),
    summary: z._default(z.string(), ""),
    payload: z._default(metadata, {}),
    at: z.number(),
  }),
);
export type RequestRecord = z.infer<ReturnType<typeof requestRecord>>;

export const requestForm: Form<RequestRecord> = {
  guard: looseObject<RequestRecord>({
    id: isFilled,
    kind: oneOf(REQUEST_KINDS),
    from: isText,
    summary: isText,
    payload: isRecord,
    at: isNumber,
  }),
  schema: requestRecord,
};

/** The only answer to a request. */
const answerRecord = lazily(() =>
  z.looseObject({
    approve: z.boolean(),
    by: z._default(z.string(), ""),
    note: z.optional(z.string()),
    mode: z.optional(z.string()),
    /** Rules that the answer adds. */
    always: z.optional(z.array(z.string())),
    at: z.number(),
  }),
);
export type AnswerRecord = z.infer<ReturnType<typeof answerRecord>>;

/** Returns the schema of a file in `requests/`; undefined for any other file. */
export function requestSchemaOf(file: string): z.core.$ZodType<unknown> | undefined {
  if (file.endsWith(".answer")) return answerRecord();
  return file.endsWith(".json") ? requestRecord() : undefined;
}

/** Returns the rules that an “always” adds: our own, never those of another program. */
export function suggestedRules({ payload }: RequestRecord): readonly string[] {
  const rules = Array.isArray(payload.rules) ? payload.rules : [];
  return rules.filter((rule): rule is string => typeof rule === "string");
}

/** True if there is a request with this id, answered or not. */
export function isRequested(ref: TeamRef, id: string): boolean {
  return entryOf(ref.paths.request(id).request) !== undefined;
}

/**
 * Creates a request; an existing one with this id stays unchanged.
 * @throws TeamError TEAM_NOT_FOUND
 */
export function openRequest(
  ref: TeamRef,
  request: Pick<RequestRecord, "id" | "kind" | "from" | "summary" | "payload" | "at">,
): void {
  assertTeam(ref);
  const path = ref.paths.request(request.id).request;
  // A process that follows a team calls this after each change of its files, so do not write an existing request again.
  if (entryOf(path) !== undefined) return;
  try {
    makeDirBelow(ref.paths.dir, ref.paths.requests);
    createWhole(path, formatJson(redactValue(request, ownSecrets())));
  } catch (error) {
    throw isMissing(error) ? teamNotFound(ref) : error;
  }
}

/**
 * Opens a request and notifies its recipient. If that fails the request is closed again, so a retry asks only once.
 * @throws TeamError TEAM_NOT_FOUND, and errors of `notify`
 */
export async function openAndNotify(
  ref: TeamRef,
  request: Parameters<typeof openRequest>[1],
  notify: () => Promise<unknown>,
): Promise<void> {
  openRequest(ref, request);
  try {
    await notify();
  } catch (error) {
    closeRequest(ref, request.id);
    throw error;
  }
}

/** Returns the unanswered requests, oldest first. */
export function listRequests(ref: TeamRef): RequestRecord[] {
  return recordsOf(ref, (name, all) => !all.has(name.replace(/\.json$/, ".answer")));
}

/** Returns an agent's open requests, answered or not, oldest first. */
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
    .flatMap((path) => readCached(ref, path, () => readRecordFile(path, requestForm)) ?? [])
    .sort((a, b) => a.at - b.at);
}

/** @throws TeamError REQUEST_NOT_FOUND if it does not exist, or its asker has ended; ALREADY_ANSWERED if its asker has the answer */
export function readRequest(ref: TeamRef, id: string): RequestRecord {
  const request = readRecordFile(ref.paths.request(id).request, requestForm);
  if (request === undefined) throw notOpenError(ref, id);
  return request;
}

/**
 * Answers a request. Only the first answer counts; its caller receives "answered" and must send the response.
 * @throws TeamError REQUEST_NOT_FOUND; ALREADY_ANSWERED if its asker has the first answer already
 */
export async function answerRequest(
  ref: TeamRef,
  id: string,
  answer: Pick<AnswerRecord, "approve" | "by" | "note" | "mode" | "always" | "at">,
): Promise<"answered" | "already"> {
  const paths = ref.paths.request(id);
  if (readRecordFile(paths.request, requestForm) === undefined) throw notOpenError(ref, id);
  if (!createWhole(paths.answer, formatJson(redactValue(answer, ownSecrets())))) return "already";
  if (entryOf(paths.request) !== undefined) return "answered";
  // The asker has closed the request: it took this answer, and will remove it, or it gave up or ended at the same moment.
  for (let waited = 0; waited < CLOSE_MS; waited += POLL_MS) {
    if (entryOf(paths.answer) === undefined) return "answered";
    await pause(POLL_MS);
  }
  removeFile(paths.answer);
  throw notOpenError(ref, id);
}

/** An asker that took an answer removes it within this many milliseconds. */
const CLOSE_MS = 500;
const POLL_MS = 10;

/** True if this agent's request with this id is unanswered. */
export function isAwaitingAnswer(ref: TeamRef, wanted: string, asker: string): boolean {
  return awaitingRequest(ref, wanted, asker) !== undefined;
}

/** Returns this agent's request with this id if it is unanswered. */
export function awaitingRequest(ref: TeamRef, wanted: string, asker: string): RequestRecord | undefined {
  return listRequests(ref).find(({ id, from }) => id === wanted && sameName(from, asker));
}

/** Returns the answer to a request, if there is one. */
export function readAnswer(ref: TeamRef, id: string): AnswerRecord | undefined {
  return readRecordFile(ref.paths.request(id).answer, answerRecord());
}

/** Removes an answer that could not be sent: the request is unanswered again. */
export function withdrawAnswer(ref: TeamRef, id: string): void {
  removeFile(ref.paths.request(id).answer);
}

/** Closes a request: its asker has the answer, or has ended. */
export function closeRequest(ref: TeamRef, id: string): void {
  const paths = ref.paths.request(id);
  removeFile(paths.request);
  // An answer that cannot be remembered stays: it is evidence too, and doctor removes it.
  if (entryOf(paths.answer) !== undefined && rememberAnswered(ref, id)) removeFile(paths.answer);
}

/** True if this agent has an unanswered request of this kind. */
export function hasOpenRequest(ref: TeamRef, agent: string, wanted: RequestRecord["kind"]): boolean {
  return listRequests(ref).some(({ from, kind }) => from === agent && kind === wanted);
}

/** Returns an agent's unanswered questions, oldest first. */
export function openQuestionsOf(ref: TeamRef, agent: string): readonly RequestRecord[] {
  return listRequests(ref).filter(({ from, kind }) => from === agent && kind === "question");
}
