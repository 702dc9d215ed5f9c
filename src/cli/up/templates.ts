/** Team files to start from, by the name of the work. A test parses and plans them. */
export const TEMPLATES = {
  review: `{
  // Start the team: teams up team.json     only show what that would do: add --dry-run
  // Every field: teams up --schema, or docs/team-files.md
  "name": "review",
  "description": "Review of the changes on this branch",
  "maxTokens": "2M",
  "members": [
    {
      "name": "security",
      "agentType": "reviewer",
      "prompt": "Review the changes of this branch against \${BASE:-main} for security problems. Do the tasks that you own. Send each finding with file and line to team-lead.",
      // It may read everything, and write nothing.
      "writes": [],
    },
    {
      "name": "tests",
      "agentType": "tester",
      "prompt": "Review the changes of this branch against \${BASE:-main}: which behaviour has no test? Do the tasks that you own. Send your findings to team-lead.",
      "writes": [],
    },
    {
      "name": "writer",
      "prompt": "Once the reviews are done, write REVIEW.md from their findings, the worst first. Do the tasks that you own.",
      "writes": ["REVIEW.md"],
    },
  ],
  "tasks": [
    { "subject": "Review for security problems", "owner": "security" },
    { "subject": "Find behaviour without a test", "owner": "tests" },
    {
      "subject": "Write REVIEW.md",
      "owner": "writer",
      // Subjects of other tasks, or their positions in this list, from 0.
      "blockedBy": ["Review for security problems", "Find behaviour without a test"],
    },
  ],
  // Without a lead, you lead: read with teams inbox, answer with teams send. To let an agent lead, add:
  // "lead": { "goal": "Have this branch reviewed, and sum up what must change before it lands." },
}
`,
  feature: `{
  // Start the team: teams up team.json     only show what that would do: add --dry-run
  // Every field: teams up --schema, or docs/team-files.md
  "name": "feature",
  "description": "\${FEATURE:-Describe the feature here, or set FEATURE}",
  "members": [
    {
      "name": "architect",
      "agentType": "architect",
      "prompt": "Plan this feature: \${FEATURE:-see the description of the team}. Write the plan to docs/plan.md, then add a task for each step. Do the tasks that you own.",
      // Nothing is changed before you approve its plan (teams approvals).
      "plan": true,
      "writes": ["docs/**"],
    },
    {
      "name": "dev",
      "agentType": "engineer",
      "prompt": "Do the tasks that you own, then take free ones. Commit each finished task on your branch.",
      // Its own branch and directory.
      "worktree": true,
      // More than the default mode: teams asks you once to trust this file.
      "permissionMode": "acceptEdits",
      "allowedTools": ["Bash(git add:*)", "Bash(git commit:*)"],
      "writes": ["src/**", "test/**"],
      "maxTokens": "3M",
    },
    {
      "name": "reviewer",
      "agentType": "reviewer",
      "prompt": "Review each task that dev has completed, and send dev what must change. Do the tasks that you own.",
      "writes": [],
    },
  ],
  "tasks": [
    { "subject": "Plan the feature", "owner": "architect" },
    {
      "subject": "Build the feature",
      "owner": "dev",
      "blockedBy": [0],
      // While this task runs, no other task on these files runs.
      "touches": ["src/**", "test/**"],
      // teams runs this when dev says that the task is done: only exit code 0 completes the task.
      // "verify": "npm test",
    },
    { "subject": "Review the feature", "owner": "reviewer", "blockedBy": [1] },
  ],
}
`,
  migration: `{
  // Start the team: teams up team.json     only show what that would do: add --dry-run
  // Every field: teams up --schema, or docs/team-files.md
  "name": "migration",
  "description": "\${MIGRATION:-Describe the migration here, or set MIGRATION}",
  "maxTokens": "10M",
  "members": [
    {
      "name": "scout",
      "agentType": "Explore",
      "prompt": "Find every place that this migration changes: \${MIGRATION:-see the description of the team}. Send the list, by directory, to team-lead. Do the tasks that you own.",
    },
    // The next members each work on their own part, in their own worktree, so they do not disturb each other.
    {
      "name": "core",
      "agentType": "engineer",
      "prompt": "Migrate src. Do the tasks that you own. Run the tests after each step, and commit.",
      "worktree": true,
      // More than the default mode: teams asks you once to trust this file.
      "permissionMode": "acceptEdits",
      "writes": ["src/**"],
    },
    {
      "name": "tests",
      "agentType": "tester",
      "prompt": "Migrate the tests. Do the tasks that you own, and commit.",
      "worktree": true,
      "permissionMode": "acceptEdits",
      "writes": ["test/**", "tests/**"],
    },
    {
      "name": "docs",
      "prompt": "Migrate the documentation. Do the tasks that you own, and commit.",
      "worktree": true,
      "permissionMode": "acceptEdits",
      "writes": ["docs/**", "*.md"],
    },
  ],
  "tasks": [
    { "subject": "List every place to change", "owner": "scout" },
    { "subject": "Migrate the code", "owner": "core", "blockedBy": [0] },
    { "subject": "Migrate the tests", "owner": "tests", "blockedBy": [1] },
    { "subject": "Migrate the documentation", "owner": "docs", "blockedBy": [1] },
  ],
}
`,
} as const;

export type TemplateName = keyof typeof TEMPLATES;
