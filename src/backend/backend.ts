import type { Env } from "../os/env.ts";
import type { AgentPaths } from "../protocol/paths.ts";
import type { BackendType } from "../schema/config.ts";
import type { PlaceRecord } from "../schema/status.ts";
import type { VisibleRows } from "./visible-rows.ts";

/** One agent to start. */
export interface SpawnRequest {
  /** `name@team`: the pane's `@teams_agent_id`. Borders show it only through that option. */
  readonly agentId: string;
  readonly name: string;
  readonly team: string;
  /** The team's name as the user typed it; it names the window. */
  readonly teamTitle: string;
  readonly color: string;
  /** Hash of the root, `@teams_root`: distinguishes teams with the same name in two roots on one tmux server. */
  readonly rootTag: string;
  /** A uuid that identifies this start. */
  readonly instance: string;
  readonly cwd: string;
  /** Program and arguments; no shell reads them. */
  readonly argv: readonly string[];
  /** The caller's environment and the agent's own variables. */
  readonly env: Env;
  readonly paths: AgentPaths;
  /** FIFOs to ring when the agent ends (the lead's bell). */
  readonly bells: readonly string[];
  /**
   * Receives the place as soon as it exists, before the agent announces readiness. If the spawning process is killed in
   * between, other processes can still find and end the agent.
   */
  readonly onPlaced?: (place: PlaceRecord) => void;
  /** Whether it is ready only once its third-party program runs, which may take long to load. */
  readonly awaitsProgram?: boolean;
  /** Aborts the start; has no effect once the agent has announced readiness. */
  readonly signal?: AbortSignal | undefined;
}

/** The caller's position in tmux, according to its environment. */
export interface CallerPosition {
  /** The caller's pane; missing in a popup. */
  readonly callerPane?: string | undefined;
  readonly callerSession?: string | undefined;
  /** The process of the caller's server; pane and session are valid only on that server. */
  readonly callerServer?: number | undefined;
}

/** Where new panes go (product.md, "In tmux"). */
export interface Placement extends CallerPosition {
  readonly kind: "team-window" | "window" | "here" | "session";
}

/** Returns the fields of a {@link CallerPosition} alone. */
export function callerPosition({ callerPane, callerSession, callerServer }: CallerPosition): CallerPosition {
  return { callerPane, callerSession, callerServer };
}

/**
 * Why no pane was created next to the caller's: the caller has no pane on that server, its pane floats, a pane of its window
 * is zoomed (a split would unzoom it), or its pane is too small to split again.
 */
export type NotHereReason = "no pane" | "floating" | "zoomed" | "no room";

export type SpawnOutcome =
  | {
      readonly ok: true;
      readonly name: string;
      readonly place: PlaceRecord;
      /** Set if a pane next to the caller was requested but not possible. */
      readonly notHere?: NotHereReason;
    }
  | { readonly ok: false; readonly name: string; readonly error: Error };

/**
 * Where teammates run. A place is a record on disk, so every method also works in a process that spawned nothing. Every
 * method checks that the place still matches its record; if not, its result says so, and it does not throw.
 */
export interface Backend {
  readonly type: BackendType;
  /**
   * Starts all agents in as few calls as possible and resolves when each is ready or has failed. Returns one outcome for
   * each request, in order; a failed start leaves no process, pane or file.
   */
  spawn(requests: readonly SpawnRequest[], placement: Placement): Promise<readonly SpawnOutcome[]>;
  /**
   * Announces a spawn, for a backend that batches spawns. Other spawns wait for it, so nothing slow may precede the call of `spawn`.
   * @returns a function to call once `spawn` was called, or when it will not be called
   */
  announceSpawn?(): () => void;
  /** Returns the instances of those given places that still exist. */
  present(places: readonly PlaceRecord[]): Promise<ReadonlySet<string /* instance */>>;
  /** Returns the last lines that the place shows, oldest first; undefined if the place is gone. */
  capture(place: PlaceRecord, lines: number): Promise<readonly string[] | undefined>;
  /** Returns the rows that are visible now, without any effect on the agent; undefined if the place is gone. */
  visibleRows(place: PlaceRecord): Promise<VisibleRows | undefined>;
  /**
   * Ends an agent without a separate process. Only such backends have this method; other agents are ended by pid.
   * @param graceMs milliseconds until the agent counts as killed
   * @returns the pids of processes in which the agent may still run
   */
  end?(place: PlaceRecord, graceMs: number): Promise<readonly number[]>;
  /**
   * Prepares the end of places, before their processes get signals. If a session would end with them, its clients switch back to their
   * last session. Missing if the end of a place closes nothing else.
   */
  leave?(places: readonly PlaceRecord[]): Promise<void>;
  /** Removes the places (closes panes, deletes logs). The caller has ended the processes. */
  close(places: readonly PlaceRecord[]): Promise<void>;
  /** Brings the place to the front of the terminal; false if it is gone. Missing if the user must run a command to do that. */
  focus?(place: PlaceRecord): Promise<boolean>;
}
