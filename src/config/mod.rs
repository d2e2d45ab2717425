//! evalreport.yaml into typed settings.
