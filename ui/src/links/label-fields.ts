/** Which labels of series name the same thing as a field of logs. Pure. */

/** By the field; the usual label first. */
export const labelsOfField: Readonly<Record<string, readonly string[]>> = {
  serviceName: ['service_name', 'service', 'job', 'exported_job', 'app'],
  host: ['host', 'host_name', 'hostname', 'instance', 'node'],
  serviceNamespace: ['service_namespace'],
  k8sCluster: ['cluster', 'k8s_cluster_name'],
  k8sNamespace: ['namespace', 'k8s_namespace_name', 'kubernetes_namespace'],
  k8sDeployment: ['deployment', 'k8s_deployment_name'],
  k8sPod: ['pod', 'k8s_pod_name', 'kubernetes_pod_name'],
  k8sContainer: ['container', 'k8s_container_name'],
  k8sNode: ['k8s_node_name'],
};

const fields = new Map(
  Object.entries(labelsOfField).flatMap(([field, labels]) =>
    labels.map((label) => [label, field] as const),
  ),
);

export function fieldOfLabel(label: string): string | undefined {
  return fields.get(label);
}

/** Instances are addresses: `web-1:9100` runs on the host `web-1`. */
export function withoutPort(instance: string): string {
  return instance.replace(/:\d{1,5}$/, '');
}
