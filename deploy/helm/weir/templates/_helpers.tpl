{{- define "weir.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "weir.selector" -}}
app.kubernetes.io/name: weir
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "weir.labels" -}}
{{ include "weir.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* Pod template of a component. Parameters as a dict: root, component, resources, roles ("" = all). */}}
{{- define "weir.pod" -}}
{{- $values := .root.Values -}}
metadata:
  labels:
    {{- include "weir.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  annotations:
    # Restarts the pods when the settings change.
    checksum/config: {{ $values.config | toJson | sha256sum }}
spec:
  serviceAccountName: {{ include "weir.name" .root }}
  automountServiceAccountToken: false
  # Service links define variables such as WEIR_INGEST_PORT, which Weir reads as settings.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  {{- with $values.image.pullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "weir.selector" .root | nindent 10 }}
          app.kubernetes.io/component: {{ .component }}
  containers:
    - name: weir
      {{- with $values.image }}
      image: {{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.root.Chart.AppVersion }}{{ end }}
      imagePullPolicy: {{ .pullPolicy }}
      {{- end }}
      env:
        - {name: WEIR_CONFIG, value: /etc/weir/weir.json}
        - {name: WEIR_INGEST_PORT, value: "8443"}
        - {name: WEIR_STREAM_PORT, value: "8444"}
        - {name: WEIR_OPS_HOST, value: ""}
        - {name: WEIR_OPS_PORT, value: "9464"}
        - {name: WEIR_SHUTDOWN_DELAY_SECONDS, value: {{ $values.shutdownDelaySeconds | quote }}}
        {{- if .roles }}
        - {name: WEIR_ROLES, value: {{ .roles }}}
        {{- end }}
        {{- if $values.tls.secretName }}
        - {name: WEIR_TLS_CERT_FILE, value: /etc/weir-tls/tls.crt}
        - {name: WEIR_TLS_KEY_FILE, value: /etc/weir-tls/tls.key}
        {{- end }}
      {{- with $values.secretName }}
      envFrom:
        - secretRef: {name: {{ . }}}
      {{- end }}
      ports:
        - {name: ingest, containerPort: 8443}
        - {name: stream, containerPort: 8444}
        - {name: ops, containerPort: 9464}
      # The first start waits for servers and creates tables; recovery of a long log takes minutes.
      startupProbe:
        httpGet: {path: /healthz, port: ops}
        periodSeconds: 2
        failureThreshold: 300
      livenessProbe:
        httpGet: {path: /healthz, port: ops}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: ops}
        periodSeconds: 3
        timeoutSeconds: 3
        failureThreshold: 2
      resources: {{ toYaml .resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: config, mountPath: /etc/weir, readOnly: true}
        {{- if $values.tls.secretName }}
        - {name: tls, mountPath: /etc/weir-tls, readOnly: true}
        {{- end }}
        - {name: data, mountPath: /var/lib/weir}
        - {name: tmp, mountPath: /tmp}
  volumes:
    - name: config
      configMap: {name: {{ include "weir.name" .root }}}
    {{- with $values.tls.secretName }}
    - name: tls
      secret: {secretName: {{ . }}, defaultMode: 0440}
    {{- end }}
    - name: tmp
      emptyDir: {}
    {{- if .roles }}
    # No durable data.
    - name: data
      emptyDir: {}
    {{- end }}
{{- end -}}
