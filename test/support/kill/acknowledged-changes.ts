import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type InboxMessage, journalLine } from "../../../src/schema/inbox.ts";
import type { Task } from "../../../src/schema/task.ts";
import { readJsonLines } from "../../../src/store/jsonl.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { readEntry } from "../../../src/team/inbox/inbox-format.ts";
import { type TeamRef, teamRef } from "../../../src/team/ref.ts";
import { taskIds } from "../../../src/team/tasks/task-ids.ts";
import { getTask, ownerName } from "../../../src/team/tasks/tasks.ts";

/** A change to a team that a process attempts. */
export type Operation =
  | { readonly does: "send"; readonly text: string; readonly to: string }
  | { readonly does: "receive"; readonly agent: string }
  | { readonly does: "mark"; readonly agent: string; readonly texts: readonly string[] }
  | { readonly does: "create"; readonly subject: string; readonly blockedBy: readonly string[] }
  | { readonly does: "claim"; readonly id: string | undefined; readonly actor: string }
  | { readonly does: "complete"; readonly id: string }
  | { readonly does: "remove"; readonly id: string; readonly actor: string }
  | { readonly does: "enter" | "leave"; readonly name: string }
  | { readonly does: "make team" | "remove team"; readonly name: string };

export type ReportContent =
  | { readonly at: "paused" }
  | { readonly at: "begins"; readonly operation: Operation }
  | { readonly at: "done"; readonly value?: string | undefined }
  | { readonly at: "refused"; readonly code: string };

/** A report of such a process, with its time in microseconds of a clock that all processes share. */
export type Report = ReportContent & { readonly actor: string; readonly time: number };

/** How far an operation got, according to its process. */
type Extent = "begun" | "done";

interface Message {
  readonly to: string;
  sent: Extent;
  marked?: Extent;
}

interface KnownTask {
  /** Missing if the task was removed before its creator could report it. */
  readonly subject?: string;
  readonly blockedBy: readonly string[];
  owner?: string;
  completed?: Extent;
  removed?: Extent;
  /** The removals that were not refused; a killed process counts too. */
  removers: number;
}

function readOne(entry: unknown): InboxMessage {
  const message = readEntry(entry);
  if (message === undefined) throw new Error(`Unreadable entry ${JSON.stringify(entry)}.`);
  return message;
}

/** Replaces the assertions of the test runner, which are too slow for hundreds of thousands of checks. */
function assert(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}

/** A text with a number that rises with each operation of an actor: `w0 12003`. */
const OURS = /^\w+ \d+$/;

/**
 * The changes that processes reported for one team, to check against the team's files.
 * A reported change must be there, a begun one must be complete or absent, and no other change may exist.
 */
export class Acknowledged {
  readonly #ref: TeamRef;
  readonly #messages = new Map<string, Message>();
  readonly #tasks = new Map<string, KnownTask>();
  /** Tasks whose creation has begun, by subject: their ids are not reported yet. */
  readonly #begunTasks = new Map<string, readonly string[]>();
  readonly #members = new Map<string, { entered: Extent; left?: Extent }>();
  readonly #teams = new Map<string, { made: Extent; removed?: Extent }>();
  /** Tasks whose links a killed process may have written on one side only. */
  readonly #halfLinked = new Set<string>();
  readonly #open = new Map<string, Operation>();
  /** Messages that were marked and have left their inbox. */
  readonly #settled = new Set<string>();
  /** The journal up to the offset: the text of each id, and the states of each text. */
  readonly #journal = { offset: 0, texts: new Map<string, string>(), states: new Map<string, string[]>() };

  constructor(ref: TeamRef) {
    this.#ref = ref;
  }

  /** Records the reports of several processes in order of time, since separate pipes have no common order. */
  record(reports: readonly Report[]): void {
    for (const report of reports.toSorted((a, b) => a.time - b.time)) {
      if (report.at === "paused") continue;
      const operation = report.at === "begins" ? report.operation : this.#open.get(report.actor);
      if (operation === undefined) throw new Error(`${JSON.stringify(report)} follows no operation.`);
      if (report.at === "begins") this.#open.set(report.actor, operation);
      else this.#open.delete(report.actor);
      if (report.at === "begins") this.begins(operation);
      else if (report.at === "done") this.done(operation, report.value);
      else this.#refused(operation);
    }
  }

  /** Records that the process of this actor has ended. @returns its unfinished operation */
  ended(actor: string): Operation | undefined {
    const operation = this.#open.get(actor);
    this.#open.delete(actor);
    if (operation !== undefined) this.#cutOff(operation);
    return operation;
  }

  begins(operation: Operation): void {
    this.#note(operation, "begun", undefined);
  }

  done(operation: Operation, value?: string): void {
    this.#note(operation, "done", value);
  }

  /** A refused operation changed nothing. */
  #refused(operation: Operation): void {
    switch (operation.does) {
      case "remove":
        this.#notRemoved(operation.id);
        break;
      case "create":
        this.#begunTasks.delete(operation.subject);
        break;
      case "claim":
      case "remove team":
        break;
      default:
        throw new Error(`${JSON.stringify(operation)} was refused.`);
    }
  }

  #cutOff(operation: Operation): void {
    if (operation.does === "create") for (const id of operation.blockedBy) this.#halfLinked.add(id);
    if (operation.does !== "remove") return;
    const { blockedBy = [] } = this.#tasks.get(operation.id) ?? {};
    for (const id of [operation.id, ...blockedBy]) this.#halfLinked.add(id);
  }

  #note(operation: Operation, extent: Extent, value: string | undefined): void {
    switch (operation.does) {
      case "send":
        // The message may have been marked before its sender reported it.
        this.#messages.set(operation.text, {
          ...this.#messages.get(operation.text),
          to: operation.to,
          sent: extent,
        });
        break;
      case "receive":
        if (extent === "done") this.#noteReceived(operation.agent, JSON.parse(value ?? "[]"));
        break;
      case "mark":
        for (const text of operation.texts) if (OURS.test(text)) this.#message(text).marked = extent;
        break;
      case "create":
        if (extent === "begun") this.#begunTasks.set(operation.subject, operation.blockedBy);
        else this.#noteCreated(operation.subject, operation.blockedBy, value ?? "");
        break;
      case "claim":
        if (extent === "done") this.#noteClaimed(value ?? "", operation.actor);
        break;
      case "complete":
        this.#task(operation.id).completed = extent;
        break;
      case "remove":
        this.#noteRemoved(operation.id, operation.actor, extent);
        break;
      case "enter":
        this.#members.set(operation.name, { entered: extent });
        break;
      case "leave":
        this.#member(operation.name).left = extent;
        break;
      case "make team":
        this.#teams.set(operation.name, { made: extent });
        break;
      case "remove team":
        this.#team(operation.name).removed = extent;
        break;
    }
  }

  #noteReceived(agent: string, texts: readonly string[]): void {
    for (const text of texts.filter((one) => OURS.test(one))) {
      assert(!this.#settled.has(text), `${agent} received ${text}, which had left its inbox.`);
      const { to, marked } = this.#message(text);
      assert(to === agent, `${agent} received ${text}, which was sent to ${to}.`);
      assert(marked !== "done", `${agent} received ${text} after it had marked it.`);
    }
  }

  #noteCreated(subject: string, blockedBy: readonly string[], id: string): void {
    this.#begunTasks.delete(subject);
    const before = this.#tasks.get(id);
    assert((before?.subject ?? subject) === subject, `The id ${id} was assigned twice.`);
    this.#tasks.set(id, { removers: 0, ...before, subject, blockedBy });
  }

  #noteClaimed(id: string, actor: string): void {
    const task = this.#task(id);
    assert((task.owner ?? actor) === actor, `${actor} claimed task ${id} of ${task.owner}.`);
    task.owner = actor;
  }

  #noteRemoved(id: string, actor: string, extent: Extent): void {
    const task = this.#task(id);
    if (extent === "begun") task.removers += 1;
    if (task.removed !== "done") task.removed = extent;
    if (extent === "done")
      assert((task.owner ?? actor) === actor, `${actor} removed task ${id} of ${task.owner}.`);
  }

  /** Another process may have removed the task first. */
  #notRemoved(id: string): void {
    const task = this.#task(id);
    task.removers -= 1;
    if (task.removed === "begun" && task.removers === 0) delete task.removed;
  }

  #message(text: string): Message {
    const message = this.#messages.get(text);
    if (message === undefined) throw new Error(`${JSON.stringify(text)} was never sent.`);
    return message;
  }

  /** Returns a known task, or registers one that a killed process created. */
  #task(id: string): KnownTask {
    const known = this.#tasks.get(id);
    if (known !== undefined) return known;
    const path = this.#ref.paths.task(id);
    const found = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
    const subject: string | undefined = found?.subject;
    const task: KnownTask = {
      ...(subject === undefined ? {} : { subject }),
      removers: 0,
      blockedBy: found?.blockedBy ?? [],
    };
    this.#begunTasks.delete(subject ?? "");
    this.#tasks.set(id, task);
    return task;
  }

  #member(name: string): { entered: Extent; left?: Extent } {
    const member = this.#members.get(name);
    if (member === undefined) throw new Error(`${name} was never added.`);
    return member;
  }

  #team(name: string): { made: Extent; removed?: Extent } {
    const team = this.#teams.get(name);
    if (team === undefined) throw new Error(`${name} was never created.`);
    return team;
  }

  /** Checks everything against the files. Call it while no process writes. */
  check(): void {
    this.#checkMessages();
    this.#checkTasks();
    this.#checkMembers();
    for (const [name, team] of this.#teams) this.#checkTeam(name, team);
  }

  #checkMessages(): void {
    this.#readJournal();
    const waiting = new Map<string, { agent: string; read: boolean }>();
    for (const file of readdirSync(this.#ref.paths.inboxes).filter((name) => /^[^.].*\.json$/.test(name))) {
      const agent = file.slice(0, -".json".length);
      const entries: unknown[] = JSON.parse(readFileSync(join(this.#ref.paths.inboxes, file), "utf8"));
      const last = new Map<string, number>();
      for (const { from, text, read } of entries.map(readOne)) {
        if (!OURS.test(text)) continue;
        assert(!waiting.has(text) && !this.#settled.has(text), `${text} is stored twice.`);
        waiting.set(text, { agent, read });
        const number = Number(text.split(" ")[1]);
        assert(number > (last.get(from) ?? 0), `${text} follows a later message of ${from}.`);
        last.set(from, number);
      }
    }
    for (const text of waiting.keys()) this.#message(text);
    for (const [text, message] of this.#messages) this.#checkMessage(text, message, waiting.get(text));
  }

  #checkMessage(
    text: string,
    { to, sent, marked }: Message,
    found: { agent: string; read: boolean } | undefined,
  ): void {
    const states = this.#journal.states.get(text) ?? [];
    if (sent === "done") assert(states.length > 0, `${text} is missing in the journal.`);
    if (found !== undefined) {
      assert(found.agent === to, `${text} for ${to} is in the inbox of ${found.agent}.`);
      if (marked === undefined) assert(!found.read, `${text} is read, but was never marked.`);
      if (marked === "done") assert(found.read, `${text} is unread, but was marked.`);
      return;
    }
    if (sent === "begun" && states.length === 0) return;
    assert(marked !== undefined, `${text} left the inbox of ${to}, which had not marked it.`);
    assert(
      states.includes("delivered"),
      `${text} left its inbox, but not according to the journal: ${states}.`,
    );
    // Gone for good: it is not checked again, and must not come back.
    this.#settled.add(text);
    this.#messages.delete(text);
  }

  #readJournal(): void {
    const { lines, offset, bad } = readJsonLines(this.#ref.paths.journal, journalLine, this.#journal.offset);
    assert(bad === 0, `The journal has ${bad} unreadable lines.`);
    this.#journal.offset = offset;
    const { texts, states } = this.#journal;
    for (const { id, state, message } of lines) {
      if (message !== undefined) texts.set(id, message.text);
      const text = texts.get(id) ?? id;
      states.set(text, [...(states.get(text) ?? []), state]);
    }
  }

  #checkTasks(): void {
    const onDisk = new Map(taskIds(this.#ref).map((id) => [id, getTask(this.#ref, id)]));
    for (const [id, { subject, blocks, blockedBy }] of onDisk) {
      assert(this.#task(id).subject === subject, `The id ${id} now belongs to ${subject}.`);
      for (const other of blocks) this.#checkLink(id, other, onDisk.get(other)?.blockedBy);
      for (const other of blockedBy) this.#checkLink(id, other, onDisk.get(other)?.blocks);
    }
    for (const [id, known] of this.#tasks) this.#checkTask(id, known, onDisk.get(id));
  }

  #checkTask(id: string, known: KnownTask, task: Task | undefined): void {
    const { owner, completed, removed } = known;
    if (removed === undefined) assert(task !== undefined, `Task ${id} is gone.`);
    if (removed === "done") assert(task === undefined, `Task ${id} is back.`);
    if (task === undefined) return;
    if (owner !== undefined)
      assert(ownerName(task) === owner, `Task ${id} of ${owner} belongs to ${task.owner}.`);
    if (completed === "begun" || owner === undefined) return;
    assert(task.status === (completed ? "completed" : "in_progress"), `Task ${id} is ${task.status}.`);
  }

  #checkLink(id: string, other: string, back: readonly string[] | undefined): void {
    if (this.#halfLinked.has(id) || this.#halfLinked.has(other)) return;
    assert(back?.includes(id) ?? false, `Task ${id} links to ${other}, which does not link back.`);
  }

  #checkMembers(): void {
    const { members, former = [], joinedCount } = readTeam(this.#ref);
    const names = new Set(members.map(({ name }) => name));
    assert(names.size === members.length, "A member is listed twice.");
    const joined = members.length - 1 + former.length;
    assert(joinedCount === joined, `${joined} joined, but ${joinedCount} are counted.`);
    for (const [name, { entered, left }] of this.#members) {
      if (entered === "done" && left === undefined) assert(names.has(name), `${name} is no longer a member.`);
      if (left === "done") assert(!names.has(name), `${name} is a member again.`);
    }
  }

  #checkTeam(name: string, { made, removed }: { made: Extent; removed?: Extent }): void {
    const ref = teamRef(this.#ref.home, name);
    const isThere = existsSync(ref.paths.dir);
    if (made === "done" && removed === undefined) assert(isThere, `The team ${name} is gone.`);
    if (removed === "done") assert(!isThere && !existsSync(ref.paths.tasks), `Files of ${name} are left.`);
    if (!isThere) return;
    assert(readTeam(ref).name === name && existsSync(ref.paths.inboxes), `${name} is incomplete.`);
    if (made === "done") assert(taskIds(ref).join() === "1", `The task of ${name} is gone.`);
  }

  /**
   * Lists files and directories that only a killed process can leave: half written, or about to be removed.
   */
  leftovers(): string[] {
    const { dir, tasks, inboxes } = this.#ref.paths;
    const places = [dirname(dir), dirname(tasks), dir, tasks, inboxes];
    return places.flatMap((place) =>
      readdirSync(place)
        .filter((name) => /\.tmp$|\.new-|\.deleted-/.test(name))
        .map((name) => join(place, name)),
    );
  }
}
