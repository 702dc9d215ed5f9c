import type { WorkerContext } from "../context.ts";
import { BudgetWait } from "./budget.ts";
import { PermissionRequests } from "./permission-requests.ts";
import { PlanApproval } from "./plan-approval.ts";
import { Questions, UndeliveredAnswers } from "./questions.ts";

/** Everything that an agent may have to wait for. */
export interface WorkerGates {
  readonly permissionRequests: PermissionRequests;
  readonly planApproval: PlanApproval;
  readonly questions: Questions;
  readonly undeliveredAnswers: UndeliveredAnswers;
  readonly budget: BudgetWait;
}

export function createGates(context: WorkerContext): WorkerGates {
  const planApproval = new PlanApproval(context);
  const undeliveredAnswers = new UndeliveredAnswers(context, planApproval);
  return {
    permissionRequests: new PermissionRequests(context),
    planApproval,
    questions: new Questions(context, undeliveredAnswers),
    undeliveredAnswers,
    budget: new BudgetWait(context),
  };
}
