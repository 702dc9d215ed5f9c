import type { Env } from "../os/env.ts";
import type { AgentPaths } from "../protocol/paths.ts";
import type { BackendType } from "../schema/config.ts";
import type { PlaceRecord } from "../schema/status.ts";
import type { VisibleRows } from "./visible-rows.ts";

/** One agent to be started. */
export interface SpawnRequest {
  /** `name@team`: the pane's `@teams_agent_id`, shown in borders through the option alone. */
  readonly agentId: string;
  readonly name: string;
  readonly team: string;
  /** What the user calls the team: the window's name. */
  readonly teamTitle: string;
  readonly color: string;
  /** Hash of the root, so that teams of two roots on one server are told apart: `@teams_root`. */
  readonly rootTag: string;
  /** A uuid of this very start. */
  readonly instance: string;
  readonly cwd: string;
  /** Program and arguments, as they are executed. */
  readonly argv: readonly string[];
  /** The caller's environment and what is added to it. */
  readonly env: Env;
  readonly paths: AgentPaths;
  /** FIFOs that hear of the agent's end (the lead's bell). */
  readonly bells: readonly string[];
  /**
   * Told where it was put as soon as it is there, before it has announced itself: so that it can be found and ended also
   * when the one that starts it is killed meanwhile.
   */
  readonly onPlaced?: (place: PlaceRecord) => void;
  /** Gives the start up as long as it has not announced itself. */
  readonly signal?: AbortSignal | undefined;
}

/** Where new panes go (product.md, "In tmux"). */
export interface Placement {
  readonly kind: "team-window" | "window" | "here" | "session";
  /** The caller's pane, where there is one. */
  readonly callerPane?: string;
}

/**
 * Why none stands beside the caller: it has no pane on that server, a pane of its window is zoomed (which a split would
 * end), or its pane has no room for one more.
 */
export type NotHereReason = "no pane" | "zoomed" | "no room";

export type SpawnOutcome =
  | {
      readonly ok: true;
      readonly name: string;
      readonly place: PlaceRecord;
      /** Of one that was to stand beside the caller and does not. */
      readonly notHere?: NotHereReason;
    }
  | { readonly ok: false; readonly name: string; readonly error: Error };

/**
 * Where teammates live. A place is a record on disk, so every method works in a process that spawned nothing; every
 * method checks that the place still is what the record says (architecture.md rule 2) and answers, never throws,
 * when it is not.
 */
export interface Backend {
  readonly type: BackendType;
  /**
   * Starts all of them in as few calls as it can and returns when each has announced itself or failed. One outcome for
   * each request, in order; a failed one leaves no process, pane or file behind.
   */
  spawn(requests: readonly SpawnRequest[], placement: Placement): Promise<readonly SpawnOutcome[]>;
  /**
   * Says that a spawn is about to come, for a backend that makes several in the calls of one. Others wait for it, so nothing
   * slow may lie before it.
   * @returns to be called once it has come, or comes no more
   */
  announceSpawn?(): () => void;
  /** The places that still exist, of those given. */
  present(places: readonly PlaceRecord[]): Promise<ReadonlySet<string /* instance */>>;
  /** The last lines that it shows, oldest first; undefined when the place is gone. */
  capture(place: PlaceRecord, lines: number): Promise<readonly string[] | undefined>;
  /** What is to be seen of it now, for one that looks again and again; it notices nothing. Undefined when the place is gone. */
  visibleRows(place: PlaceRecord): Promise<VisibleRows | undefined>;
  /**
   * Ends what lives in a place without a process of its own; elsewhere processes are ended by their pids.
   * @param graceMs milliseconds that it has
   * @returns the pids of processes that it may still run in
   */
  end?(place: PlaceRecord, graceMs: number): Promise<readonly number[]>;
  /** Removes the place (closes the pane, drops the log); processes were ended before. */
  close(places: readonly PlaceRecord[]): Promise<void>;
  /** Shows the place to the person, where that is more than the words of a command; false when it is gone. */
  focus?(place: PlaceRecord): Promise<boolean>;
}
