import type { SidebarData, SidebarMember, SidebarTask } from "../../../src/sidebar/data.ts";

/** A member, idle by default. */
export function member(name: string, changes: Partial<SidebarMember> = {}): SidebarMember {
  return {
    name,
    state: "idle",
    activity: "",
    taskIds: [],
    unread: 0,
    tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    exit: null,
    ...changes,
  };
}

export function task(id: number, subject: string, changes: Partial<SidebarTask> = {}): SidebarTask {
  return { id: String(id), subject, status: "pending", blockedBy: [], ...changes };
}

const noon = new Date(2026, 4, 4, 12, 4).getTime();

/** An audit of a repository, half done. */
export const AUDIT: SidebarData = {
  status: {
    team: "audit",
    members: [
      member("team-lead", { activity: "waiting for its team", tokens: tokens(8200) }),
      member("inventory", {
        color: "blue",
        state: "running",
        activity: "Bash(git ls-files -z | xargs -0 wc -l)",
        taskIds: ["3"],
        unread: 2,
        tokens: tokens(12_340),
      }),
      member("history", {
        color: "green",
        state: "running",
        activity: "Grep(TODO|FIXME)",
        taskIds: ["4"],
        tokens: tokens(6100),
      }),
      member("writer", {
        color: "yellow",
        state: "awaiting-approval",
        activity: "waits for approval of its plan",
        taskIds: ["6"],
        tokens: tokens(950),
      }),
      member("檢查員", {
        color: "purple",
        state: "crashed",
        exit: { code: null, signal: "SIGKILL", lastLines: ["Error: out of memory", ""] },
      }),
    ],
    tasks: {
      list: [
        task(1, "Inventory of files and languages", { status: "completed", owner: "inventory" }),
        task(2, "Who touched what: churn from git", { status: "completed", owner: "history" }),
        task(3, "Largest files, and why they are so large", { status: "in_progress", owner: "inventory" }),
        task(4, "Search for TODO and FIXME", { status: "in_progress", owner: "history" }),
        task(5, "Are there tests? 測試在哪裡", { owner: "inventory" }),
        task(6, "Write AUDIT.md", { owner: "writer", blockedBy: ["3", "4", "5"] }),
      ],
    },
    approvals: [
      {
        id: "plan_approval-1@writer@audit",
        kind: "plan",
        from: "writer",
        summary: "Write AUDIT.md with the figures of inventory and history, one section each",
      },
    ],
  },
  messages: [
    { from: "team-lead", to: "inventory", text: "Start with the languages, please.", at: noon - 180_000 },
    {
      from: "team-lead",
      to: "history",
      text: "plain",
      summary: "Churn of the last year only",
      at: noon - 120_000,
    },
    {
      from: "inventory",
      to: "writer",
      text: "The largest file is src/engine.c with 4,212 lines 🎉",
      at: noon - 60_000,
    },
    {
      from: "history",
      to: "team-lead",
      text: '{"type":"task_completed","from":"history","taskId":"2","taskSubject":"Who touched what: churn from git"}',
      at: noon,
    },
  ],
};

function tokens(total: number): SidebarMember["tokens"] {
  return { input: total - 100, output: 100, cacheRead: 50_000, cacheWrite: 0 };
}
