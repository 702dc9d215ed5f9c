import type { ApproveOptions, Cancellable, NewTask, TaskChange, TimeLimited } from "./options.ts";
import type { Approval, ApprovalDetails, Task, TaskStatus, TeamStatus } from "./values.ts";

/** The task list of a team. Ids are strings: `"3"`. */
export interface Tasks {
  /**
   * Adds a task, and notifies its owner. The hooks of the settings can refuse it.
   * @throws TeamError INVALID_INPUT, AGENT_NOT_FOUND for the owner and the reviewer, TASK_NOT_FOUND for a blocker
   * @example
   * const task = await team.tasks.add({ subject: "Fix the parser", owner: "ada", verify: "npm test" });
   */
  add(task: NewTask, options?: Cancellable): Promise<Task>;
  /**
   * Returns the tasks in the order of their numbers.
   * @throws TeamError TEAM_NOT_FOUND, AGENT_NOT_FOUND for the owner
   * @example
   * const open = await team.tasks.list({ status: "pending" });
   */
  list(filter?: {
    readonly status?: TaskStatus | undefined;
    readonly owner?: string | undefined;
  }): Promise<readonly Task[]>;
  /**
   * Returns one task.
   * @throws TeamError TASK_NOT_FOUND, INVALID_INPUT if the id is not a number
   * @example
   * const { status, shown } = await team.tasks.get("3");
   */
  get(id: string): Promise<Task>;
  /**
   * Claims and starts a task for the acting member: the given one, or the free one with the lowest number. With `exclusive`, only if
   * the member has no other unfinished task.
   * @throws TeamError TASK_NOT_FOUND (also if none is free), TASK_CLAIMED, TASK_BLOCKED, TASK_RESOLVED, TASK_CONFLICT
   * if a running task changes the same files, AGENT_BUSY with `exclusive`, INVALID_INPUT if the id is not a number
   * @example
   * const mine = await team.tasks.claim();
   */
  claim(id?: string, options?: { readonly exclusive?: boolean | undefined }): Promise<Task>;
  /**
   * Changes a task. For `completed`, its verify command runs first, as in `done`.
   * @throws TeamError TASK_NOT_FOUND, TASK_BLOCKED, TASK_CLAIMED, TASK_RESOLVED, CYCLE, AGENT_NOT_FOUND, INVALID_INPUT, INTERRUPTED
   * @example
   * await team.tasks.update("3", { owner: "ben", addBlockedBy: ["1"] });
   */
  update(id: string, change: TaskChange, options?: Cancellable): Promise<Task>;
  /**
   * Completes a task. Runs its verify command first, which can take minutes. Notifies the owners of tasks that waited for it.
   * @throws TeamError VERIFY_FAILED, TASK_NOT_FOUND, TASK_BLOCKED, TASK_RESOLVED, INTERRUPTED, INVALID_INPUT if the id is not a number.
   * In each case, the call does not complete the task.
   * @example
   * await team.tasks.done("3", { signal: AbortSignal.timeout(60_000) });
   */
  done(id: string, options?: Cancellable): Promise<Task>;
  /**
   * Removes a task.
   * @throws TeamError TASK_NOT_FOUND, TASK_CLAIMED if another member owns it and the acting member is not the lead, INVALID_INPUT if the
   * id is not a number
   * @example
   * await team.tasks.remove("3");
   */
  remove(id: string): Promise<void>;
}

/** The requests of members that wait for an answer: plans, permissions, questions and crashes. Only the first answer counts. */
export interface Approvals {
  /**
   * Returns the open requests, oldest first.
   * @throws TeamError TEAM_NOT_FOUND
   * @example
   * for (const { id, from, summary } of await team.approvals.list()) console.log(id, from, summary);
   */
  list(): Promise<readonly Approval[]>;
  /**
   * Returns a request in full: the input of the call, the plan, the whole change. Decide by these details, not by the summary.
   * @throws TeamError REQUEST_NOT_FOUND, ALREADY_ANSWERED
   * @example
   * const { tool, input } = await team.approvals.get("perm-1718000000000-ab12cd3");
   */
  get(id: string): Promise<ApprovalDetails>;
  /**
   * Approves a plan or a permission, answers a question (`note`), or restarts a crashed teammate, which takes seconds.
   * @throws TeamError REQUEST_NOT_FOUND, ALREADY_ANSWERED, INVALID_INPUT if a question with choices and without a default gets no
   * `note`, PERMISSION_DENIED if an agent's model answers anything but a plan, NOT_LEAD, SPAWN_FAILED and INTERRUPTED for a restart
   * @example
   * await team.approvals.approve("perm-1718000000000-ab12cd3", { always: ["Bash(git:*)"] });
   */
  approve(id: string, options?: ApproveOptions): Promise<Approval>;
  /**
   * Rejects a plan or a permission, or removes a crashed teammate.
   * @throws TeamError as `approve`
   * @example
   * await team.approvals.reject("perm-1718000000000-ab12cd3", { note: "Use npm ci." });
   */
  reject(id: string, options?: Pick<ApproveOptions, "note" | "signal">): Promise<Approval>;
}

/** The conditions of a wait. All given conditions must be met at the same time. Without a condition, all teammates must be idle. */
export interface WaitOptions extends TimeLimited {
  /** These members, or with `true` all teammates, are idle or have ended, and have no unread message. */
  readonly idle?: boolean | readonly string[] | undefined;
  /** All tasks are completed. An unreadable task does not count; `onNote` gets its id. */
  readonly tasks?: boolean | undefined;
  /** The acting member has an unread message. Notifications count too, such as the idle notification of a member. */
  readonly message?: boolean | undefined;
  /**
   * Returns true if this condition is met. Called at once, and after each change of the team. May act on the team, for example answer a
   * request. If it throws, the wait ends with that error, unchanged. The time limit and the signal apply between two calls.
   */
  readonly until?: ((status: TeamStatus) => boolean | Promise<boolean>) | undefined;
}

/** The conditions of a wait for one teammate. All given conditions must be met at the same time. Without a condition, it must be idle. */
export interface TeammateWaitOptions extends TimeLimited {
  /** It is idle or has ended, and has no unread message. */
  readonly idle?: boolean | undefined;
  /** All its tasks are completed. An unreadable task does not count, as in `WaitOptions`. */
  readonly tasks?: boolean | undefined;
  /** The acting member has an unread message from it. Notifications count too, such as its idle notification. */
  readonly message?: boolean | undefined;
  /** As in `WaitOptions`: called at once, and after each change of the team. */
  readonly until?: ((status: TeamStatus) => boolean | Promise<boolean>) | undefined;
}
